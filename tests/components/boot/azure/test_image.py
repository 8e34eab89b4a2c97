"""Which version of a gallery machines in Azure start from: by the channel's tag, judged, or refused with what to do."""

import asyncio
import datetime
from typing import Any

import pulumi
import pytest

from components.boot.azure import image
from components.boot.azure.image import Wanted
from fleet.azure import images as names
from fleet.loader import load
from fleet.model import Fleet
from tests.support.cloud import ROOT

REGION, KUBERNETES, NUMBER = "southcentralus", "1.36.2", "291.17767.35243"
GPU = Wanted("pool burst", REGION, KUBERNETES, "gpu", "stable", 8)
DAY = datetime.timedelta(days=1)
TAGS = {
    "landbridge:kubernetes": KUBERNETES,
    "landbridge:image": "gpu-1.36.2-0123456789ab",
    "landbridge:driver": "580.178.04",
}


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load(ROOT / "tests/components/variants/azure-beside.yaml")


class Mocks(pulumi.runtime.Mocks):
    """An image with tags, and one version of it."""

    def __init__(self, channel: str = "stable", days: int = 1, where: str = "South Central US", **tags: str) -> None:
        self.image = {"tags": {names.tag(channel, REGION): f"{NUMBER} - and more"}}
        published = (datetime.datetime.now(datetime.UTC) - days * DAY).isoformat()
        profile = {"publishedDate": published, "targetRegions": [{"name": where}]}
        held = {**TAGS, **{name.replace("__", ":"): value for name, value in tags.items()}}
        self.version = {"tags": {name: value for name, value in held.items() if value}, "publishingProfile": profile}
        self.asked: list[dict[str, Any]] = []

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        self.asked.append(dict(args.args))
        return self.version if args.token.endswith("getGalleryImageVersion") else self.image

    def new_resource(self, _: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return "", {}


def looked(fleet: Fleet, mocks: Mocks, wanted: Wanted = GPU) -> str:
    async def program() -> str:
        pulumi.runtime.set_mocks(mocks, project="landbridge", stack="burst")
        return await image.version(fleet, wanted, None)  # type: ignore[arg-type]

    return asyncio.run(program())


def test_it_is_the_version_that_the_channel_says_in_the_region(fleet: Fleet) -> None:
    mocks = Mocks()
    assert looked(fleet, mocks) == f"{names.image_id(fleet, KUBERNETES, 'gpu')}/versions/{NUMBER}"
    assert [one["galleryImageName"] for one in mocks.asked] == ["gpu-1.36.2"] * 2
    assert mocks.asked[1]["galleryImageVersionName"] == NUMBER
    cpu = Wanted("cluster main", REGION, KUBERNETES)
    assert looked(fleet, Mocks(landbridge__driver=""), cpu).endswith(f"/images/cpu-1.36.2/versions/{NUMBER}")


@pytest.mark.parametrize(
    ("mocks", "said"),
    [
        (Mocks("candidate"), "there is no image: gpu-1.36.2, channel stable says none in southcentralus. Bake one and"),
        (Mocks(days=91), "gpu-1.36.2-0123456789ab .*is 91 days old, and the fleet takes images for 90"),
        (Mocks(landbridge__driver="none"), "says that it has no NVIDIA driver"),
        (Mocks(landbridge__kubernetes="1.35.8"), "holds Kubernetes 1.35.8, and the cluster runs 1.36.2"),
        (Mocks(where="westeurope"), "has no copy in southcentralus. `landbridge image publish NAME` brings it there"),
        (Mocks(landbridge__disabled__southcentralus="2026-01-01"), "is disabled in southcentralus"),
    ],
)
def test_what_the_fleet_does_not_take_is_refused_with_what_to_do(fleet: Fleet, mocks: Mocks, said: str) -> None:
    with pytest.raises(pulumi.RunError, match=rf"^pool burst in southcentralus: .*{said}"):
        looked(fleet, mocks)

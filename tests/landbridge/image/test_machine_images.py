"""The image of a version is there before a template asks for it: set on the local cloud, demanded on real ones."""

from pathlib import Path
from typing import Any

import pytest

from fleet.image_names import ImageVariant
from fleet.loader import load
from fleet.model import Channel, Fleet
from landbridge.errors import LandbridgeError
from landbridge.image import machine_images
from landbridge.places import Place
from local import standins
from local.kubernetes import VERSIONS
from stacks.catalogue import catalogue
from tests.support.cloud import ROOT

NAME = "/example/images/cpu/1.35.8/stable"


class Region:
    """Parameters and images of a region, behind one client for all services."""

    def __init__(self, **parameters: str) -> None:
        self.parameters = {key: value for key, value in parameters.items() if value}

    def __call__(self, _service: str) -> "Region":
        return self

    def get_parameters(self, **given: Any) -> dict[str, Any]:
        return {"Parameters": [{"Value": self.parameters[n]} for n in given["Names"] if n in self.parameters]}

    def put_parameter(self, **given: Any) -> None:
        assert given["Overwrite"] is False
        self.parameters[given["Name"]] = given["Value"]

    def describe_images(self, **given: Any) -> dict[str, Any]:
        (name,) = given["Filters"][0]["Values"]
        return {"Images": [{"ImageId": id_} for id_ in [standins.STAND_INS.get(name)] if id_]}


@pytest.fixture
def fleet() -> Fleet:
    return load(ROOT / "fleet.yaml")


def ensured(
    monkeypatch: pytest.MonkeyPatch,
    region: Region,
    world: str,
    fleet: Fleet,
    version: str,
    kind: ImageVariant = "cpu",
    channel: Channel = "stable",
) -> str | None:
    monkeypatch.setattr(machine_images, "clients", lambda *_given: region)
    return machine_images.ensure(Place(world, Path(), "", "", Path()), "us-west-2", fleet, version, kind, channel)


def test_each_stack_needs_the_image_of_its_kind_and_a_pool_that_of_its_channel(fleet: Fleet) -> None:
    pools = {**fleet.pools, "cpu": fleet.pools["cpu"].model_copy(update={"channel": "candidate"})}
    tried = fleet.model_copy(update={"pools": pools})
    found = {stack.name: machine_images.needed(tried, stack) for stack in catalogue(tried)}
    assert found["main"] == ("1.36.2", "cpu", "stable")
    assert found["west-gpu"] == ("1.36.2", "gpu", "stable")
    assert found["cpu"] == ("1.36.2", "cpu", "candidate")
    assert found["us-west-2-laptops"] == ("1.36.2", "laptop", "stable")
    assert found["site-gpu"] is None
    assert found["us-west-2"] is None


def test_the_local_cloud_sets_the_channel_that_a_pool_follows(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    region = Region()
    assert ensured(monkeypatch, region, "local", fleet, VERSIONS[0], "gpu", "candidate")
    assert list(region.parameters) == [f"/example/images/gpu/{VERSIONS[0]}/candidate"]


@pytest.mark.parametrize("kind", ["cpu", "gpu", "laptop"])
@pytest.mark.parametrize("version", VERSIONS)
def test_the_local_cloud_sets_each_version_s_own(
    version: str, kind: ImageVariant, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    region = Region()
    image = ensured(monkeypatch, region, "local", fleet, version, kind)
    assert image == standins.STAND_INS[standins.image(kind, version)]
    assert region.parameters == {f"/example/images/{kind}/{version}/stable": image}
    assert machine_images.wanted(region, "example", version, kind) == image
    assert ensured(monkeypatch, region, "local", fleet, version, kind) is None, "what is set stays"


def test_on_a_real_cloud_a_version_without_an_image_is_refused(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    region = Region()
    with pytest.raises(
        LandbridgeError, match=rf"no image with Kubernetes 1\.35\.8: nothing has been promoted to {NAME}"
    ):
        ensured(monkeypatch, region, "real", fleet, "1.35.8")
    assert region.parameters == {}
    assert ensured(monkeypatch, Region(**{NAME: "ami-1"}), "real", fleet, "1.35.8") is None


def test_a_version_that_the_local_cloud_lacks_is_said(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LandbridgeError, match=r"no image with Kubernetes 1\.34\.1 in us-west-2"):
        ensured(monkeypatch, Region(), "local", fleet, "1.34.1")

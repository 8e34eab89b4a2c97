"""`landbridge image …` in a fleet of both clouds, each of them local on loopback: what is Azure's own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet.azure import images as names
from fleet.loader import load
from fleet.model import Fleet
from images.errors import ImageError
from landbridge.clouds.azure import gallery
from landbridge.errors import LandbridgeError, UsageError
from landbridge.image import machine_images
from local.azure import tokens
from local.kubernetes import VERSIONS
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

from .. import commands_bed, store_bed
from ..commands_bed import Commands

LOCAL = commands_bed.LOCAL


@pytest.fixture
def signed_in(azure: LocalAzure, monkeypatch: pytest.MonkeyPatch) -> None:
    commands_bed.signed_in(azure, monkeypatch)


@pytest.fixture
def fleet_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return commands_bed.in_both(tmp_path, f"f{len(request.node.name)}")


@pytest.fixture
def fleet(fleet_file: Path) -> Fleet:
    return load(fleet_file)


@pytest.fixture
def ran(endpoint: str, fleet_file: Path, signed_in: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands_bed.in_aws(endpoint, tmp_path, monkeypatch)
    return Commands(fleet_file)


def test_one_region_alone_and_one_that_is_none(ran: Commands, tmp_path: Path) -> None:
    _, baked = store_bed.bake(tmp_path / "images", "three")
    published = ran.told("publish", baked.name, "--region", "westeurope")
    assert published["places"] == ["westeurope"]
    (listed,) = ran.told("list", "--published", "--region", "westeurope")["images"]
    assert listed["name"] == baked.name
    (pointer,) = ran.told("list", "--published", "--region", "westeurope")["channels"]
    assert pointer["who"] == tokens.CLIENT
    assert "goes on" not in ran("publish", baked.name, "--region", "southcentralus")
    with pytest.raises(UsageError, match=r"has no region mars\. Name one of: southcentralus, us-west-2, westeurope"):
        ran("list", "--published", "--region", "mars")


def test_who_is_not_signed_in_hears_it_before_anything_is_sent(
    ran: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Nobody:
        def get_token(self, *_: str) -> Any:
            from azure.core.exceptions import ClientAuthenticationError

            raise ClientAuthenticationError("no token")

    monkeypatch.setattr(gallery, "credential", Nobody)
    _, baked = store_bed.bake(tmp_path / "images", "four")
    with pytest.raises(ImageError, match=r"^westeurope: nobody is signed in to Azure: no token\. Nothing was done"):
        ran("publish", baked.name, "--region", "westeurope")


def test_the_local_cloud_has_an_image_of_every_channel_that_is_asked_for(signed_in: None, fleet: Fleet) -> None:
    for kind in ("cpu", "gpu"):
        for version in VERSIONS:
            for region in ("westeurope", "southcentralus"):
                made = machine_images.ensure(LOCAL, region, fleet, version, kind, "candidate")
                assert made is not None
                assert machine_images.ensure(LOCAL, region, fleet, version, kind, "candidate") is None
                found = gallery.clients(SUBSCRIPTION).compute.gallery_image_versions.get(
                    names.group(fleet.fleet), names.gallery(fleet.fleet), f"{kind}-{version}", made.rpartition("/")[2]
                )
                assert region in {one.name for one in found.publishing_profile.target_regions}
                assert found.tags["landbridge:kubernetes"] == version
                assert found.tags["landbridge:driver"] == {"cpu": "none", "gpu": "played"}[kind]
    with pytest.raises(LandbridgeError, match=r"has no image with Kubernetes 1\.20\.0, only with"):
        machine_images.ensure(LOCAL, "westeurope", fleet, "1.20.0")


def test_a_real_cloud_wants_a_promotion_first(signed_in: None, fleet: Fleet) -> None:
    real = replace(LOCAL, world="cloud")
    with pytest.raises(LandbridgeError, match=r"westeurope has no image .*channel stable of cpu-1\.36\.2 in gallery f"):
        machine_images.ensure(real, "westeurope", fleet, "1.36.2")

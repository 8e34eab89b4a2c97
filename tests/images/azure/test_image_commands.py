"""`landbridge image …` in a fleet of both clouds, each of them local on loopback, and one in Azure alone."""

import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fleet.address import ledger as ledgers
from fleet.azure import images as names
from fleet.loader import load
from fleet.model import Fleet
from fleet.world import drafted
from images.errors import ImageError
from images.stores.aws.store import Waits
from landbridge.clouds.azure import gallery
from landbridge.cluster import session as sessions
from landbridge.commands.image import image
from landbridge.errors import LandbridgeError, UsageError
from landbridge.image import machine_images, stores
from landbridge.places import Place
from local.azure import sign_in, tokens
from local.kubernetes import VERSIONS
from tests.local.aws.conftest import clients
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

from .. import store_bed
from . import bed

ROOT = Path(__file__).parents[3]
FLEET = f"""\
fleet: FLEET
domain: both.example.com
owner: ops
supernet: 10.128.0.0/9
aws: {{account_id: "123456789012"}}
teams: {{ops: {{gid: 2000}}}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {sign_in.TENANT}}}
regions:
  southcentralus: {{cloud: azure, zones: ["1"]}}
  us-west-2: {{cloud: aws, zones: [a]}}
  westeurope: {{cloud: azure, zones: ["1"]}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
"""
REGIONS = ["southcentralus", "us-west-2", "westeurope"]
LOCAL = Place("local", ROOT, "file:///dev/null", "passphrase", ROOT)
Said = Callable[..., Any]


@pytest.fixture
def signed_in(azure: LocalAzure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "clients", lambda _: bed.clients(azure))
    monkeypatch.setattr(gallery, "credential", azure.credential)


@pytest.fixture
def fleet_file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET.replace("FLEET", f"f{len(request.node.name)}"))
    _, _, plan = drafted(file, datetime.date(2026, 1, 1))
    ledgers.write(ledgers.ledger_path(file), plan.ledger)
    return file


@pytest.fixture
def fleet(fleet_file: Path) -> Fleet:
    return load(fleet_file)


@pytest.fixture
def ran(endpoint: str, fleet_file: Path, signed_in: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Runs a command; what it says."""
    make = cache(clients(endpoint))
    monkeypatch.setattr(sessions, "the_place", lambda *_, **__: LOCAL)
    monkeypatch.setattr(stores, "clients_at", lambda _w, _p, region, *_: lambda name: make(name, region))
    monkeypatch.setattr(stores, "LOCAL", Waits(0.1, 100))
    monkeypatch.setenv("LANDBRIDGE_IMAGES", str(tmp_path / "images"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*words: str) -> str:
        done = CliRunner().invoke(image, [*words, "--fleet", str(fleet_file)], standalone_mode=False)
        if done.exception:
            raise done.exception
        return done.stdout

    return run


def told(ran: Said, *words: str) -> Any:
    return json.loads(ran(*words, "--json"))


def test_an_image_s_life_in_both_clouds(ran: Said, tmp_path: Path) -> None:
    _, first = store_bed.bake(tmp_path / "images", "one")
    _, second = store_bed.bake(tmp_path / "images", "two")
    published = told(ran, "publish", first.name)
    assert published["places"] == REGIONS, "in the order of the fleet file, whichever cloud has them"
    assert [one["place"] for one in published["moved"]] == REGIONS
    told(ran, "promote", first.name)
    told(ran, "publish", second.name)
    said = ran("promote", second.name)
    assert "In southcentralus, westeurope they do once `landbridge up` has told" in said
    listed = told(ran, "list", "--published")
    held = {(one["place"], one["name"]): one["channels"] for one in listed["images"]}
    assert held == {
        (region, name): found
        for region in REGIONS
        for name, found in ((first.name, ["retired"]), (second.name, ["candidate", "stable"]))
    }
    who = {one["place"]: one["who"] for one in listed["channels"]}
    assert set(who.values()) == {who["us-west-2"]}
    moved = told(ran, "rollback")["moved"]
    assert [one["image"] for one in moved if one["channel"].endswith("stable")] == [first.name] * 3
    decided = told(ran, "gc", "--yes", "--keep", "1")
    assert decided is not None


def test_one_region_alone_and_one_that_is_none(ran: Said, tmp_path: Path) -> None:
    _, baked = store_bed.bake(tmp_path / "images", "three")
    published = told(ran, "publish", baked.name, "--region", "westeurope")
    assert published["places"] == ["westeurope"]
    (listed,) = told(ran, "list", "--published", "--region", "westeurope")["images"]
    assert listed["name"] == baked.name
    (pointer,) = told(ran, "list", "--published", "--region", "westeurope")["channels"]
    assert pointer["who"] == tokens.CLIENT
    assert "goes on" not in ran("publish", baked.name, "--region", "southcentralus")
    with pytest.raises(UsageError, match=r"has no region mars\. Name one of: southcentralus, us-west-2, westeurope"):
        ran("list", "--published", "--region", "mars")


def test_who_is_not_signed_in_hears_it_before_anything_is_sent(
    ran: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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

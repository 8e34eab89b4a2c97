"""An image's life by `landbridge image publish | promote | list --published | rollback | gc`, whichever clouds regions
are in: the example's fleet in AWS, and one in both."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from images.errors import ImageError
from tests.local.azure.support import LocalAzure
from tests.support import example

from . import commands_bed
from .commands_bed import Commands
from .store_bed import bake


class Fleet(NamedTuple):
    """`late` are the regions whose machines start from a promoted image only after an `up`."""

    regions: list[str]
    late: list[str]


FLEETS = {
    "aws": Fleet(["us-west-2", "us-east-1", "eu-west-1"], []),
    "both": Fleet(["southcentralus", "us-west-2", "westeurope"], ["southcentralus, westeurope"]),
}


@pytest.fixture(params=FLEETS)
def fleet(request: pytest.FixtureRequest) -> Fleet:
    return FLEETS[request.param]


@pytest.fixture
def ran(endpoint: str, azure: LocalAzure, fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands_bed.in_aws(endpoint, tmp_path, monkeypatch)
    commands_bed.signed_in(azure, monkeypatch)
    return Commands(commands_bed.in_both(tmp_path, "life") if fleet.late else example.in_aws(tmp_path))


def test_an_image_s_life_in_regions(ran: Commands, fleet: Fleet, tmp_path: Path) -> None:
    regions = fleet.regions
    (_, first), (_, second) = (bake(tmp_path / "images", mark) for mark in ("one", "two"))
    published = ran.told("publish", first.name)
    assert published["places"] == regions, "in the order of the fleet file, whichever cloud has them"
    moved = [(one["place"], one["channel"]) for one in published["moved"]]
    assert moved == [(region, "cpu/1.36.2/candidate") for region in regions]
    late = re.findall("In (.*) they do once `landbridge up` has told", ran("promote", first.name))
    assert late == fleet.late
    ran.told("publish", second.name)
    promoted = ran.told("promote", second.name)["moved"]
    assert [one["channel"].rpartition("/")[2] for one in promoted] == ["retired", "stable"] * 3
    listed = ran.told("list", "--published")
    ours = [one for one in listed["images"] if one["name"] in (first.name, second.name)]
    assert {(one["place"], one["name"]): one["channels"] for one in ours} == {
        (region, name): channels
        for region in regions
        for name, channels in ((first.name, ["retired"]), (second.name, ["candidate", "stable"]))
    }
    # Whoever works in both clouds has AWS's name in both.
    assert {one["who"] for one in listed["channels"]} == {"arn:aws:sts::123456789012:user/moto"}
    back = [one for one in ran.told("rollback")["moved"] if one["channel"].endswith("stable")]
    assert [(one["place"], one["image"]) for one in back] == [(region, first.name) for region in regions]
    with pytest.raises(ImageError, match=f"Machines in {regions[0]} start from"):
        ran("promote", first.name, "--to", "retired")
    assert ran.told("gc", "--yes", "--keep", "1") is not None

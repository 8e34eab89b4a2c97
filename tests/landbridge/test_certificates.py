"""Whom certificates for laptops and for SSH are given to, for how long, and in which files."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.world import current
from landbridge.certificates import people
from landbridge.errors import UsageError
from landbridge.vpn import issuing
from tests.support.cloud import ROOT


@pytest.mark.parametrize(("person", "term"), [("alice", 0.5), ("alice", 90), ("bob", 1)])
def test_who_stands_in_the_fleet_file_may_have_one(person: str, term: float) -> None:
    people.check(current(ROOT / "fleet.yaml"), person, term, 90, "--days")


@pytest.mark.parametrize(
    ("person", "term", "why"),
    [
        ("mallory", 1, "mallory is nobody of the fleet: fleet.yaml has alice, bob"),
        ("alice", 0, "--days 0: .* for 90 days at most"),
        ("alice", -1, "--days -1: "),
        ("alice", 90.5, "--days 90.5: "),
    ],
)
def test_nobody_else_and_for_no_longer(person: str, term: float, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        people.check(current(ROOT / "fleet.yaml"), person, term, 90, "--days")


def stores(*regions: str) -> Any:
    return [SimpleNamespace(region=region) for region in regions]


def test_each_region_has_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = issuing.files("alice", stores("us-west-2", "eu-west-1"), None)
    assert made == [Path("alice-us-west-2.ovpn"), Path("alice-eu-west-1.ovpn")]
    assert issuing.files("alice", stores("us-west-2"), Path("a.ovpn")) == [Path("a.ovpn")]


@pytest.mark.parametrize(
    ("regions", "out", "why"),
    [
        (("us-west-2", "eu-west-1"), "a.ovpn", "one for each of us-west-2, eu-west-1. Name one with --region"),
        (("us-west-2",), "nowhere/a.ovpn", "nowhere can't be written to"),
        (("us-west-2",), "taken.ovpn", "taken.ovpn is there already"),
        (("us-west-2",), "leads.ovpn", "leads.ovpn is there already"),
    ],
)
def test_no_profile_is_written_over_or_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regions: tuple[str, ...], out: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken.ovpn").write_text("mine")
    Path("leads.ovpn").symlink_to("away")
    with pytest.raises(UsageError, match=why):
        issuing.files("alice", stores(*regions), Path(out))

"""Limits of file systems in clouds: as many access points as people and shares need, and no more than there can be."""

from pathlib import Path
from typing import Any

import pytest

from components.storage.shares import shares_spec
from fleet import shares
from fleet.loader import load
from fleet.model import Fleet, Person

EXAMPLE = Path(__file__).parents[2] / "fleet.yaml"


@pytest.fixture(scope="module")
def example() -> Fleet:
    return load(EXAMPLE)


def crowd(fleet: Fleet, number: int, **more: Any) -> Fleet:
    people = {f"p{n}": Person(uid=1000 + n, team="research") for n in range(number)}
    return fleet.model_copy(update={"people": people, **more})


def test_people_and_shares_may_fill_a_file_system_and_not_more(example: Fleet) -> None:
    most = shares.ACCESS_POINTS - len(example.storage.shares)
    assert not list(shares.wrong(crowd(example, most)))
    full = shares_spec(crowd(example, most))
    assert len(full.shares) + len(full.homes) == shares.ACCESS_POINTS
    ((entry, what, remedy),) = shares.wrong(crowd(example, most + 2))
    assert entry == ("people",)
    assert "9999 people and 3 shares need 10002 access points of EFS" in what
    assert "Remove 2 people or more" in remedy


def test_without_homes_or_without_aws_nobody_needs_one(example: Fleet) -> None:
    storage = example.storage.model_copy(update={"shares": {"data": example.storage.shares["data"]}})
    fleet = crowd(example, shares.ACCESS_POINTS, storage=storage)
    assert not list(shares.wrong(fleet))
    assert shares_spec(fleet).homes == ()
    azure = {name: one.model_copy(update={"cloud": "azure"}) for name, one in example.regions.items()}
    assert not list(shares.wrong(crowd(example, shares.ACCESS_POINTS, regions=azure)))


def test_a_home_has_its_person_s_uid_their_team_s_gid_and_is_closed_to_others(example: Fleet) -> None:
    assert [(home.path, home.uid, home.gid, home.mode) for home in shares_spec(example).homes] == [
        ("/homes/alice", 3001, 2001, "0700"),
        ("/homes/bob", 3002, 2000, "0700"),
    ]

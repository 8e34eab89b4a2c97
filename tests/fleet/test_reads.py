"""No part of a fleet is read past its watcher, and a part's digest is another one exactly when the part is."""

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet import reads
from fleet.address.plan import AddressPlan
from fleet.fields import Model
from fleet.model import Fleet
from fleet.reads import Read
from fleet.world import World, current

EXAMPLE = Path(__file__).parents[2] / "fleet.yaml"


@pytest.fixture
def untouched() -> Iterator[None]:
    """Watching is for a whole process; other tests of this one are not watched."""
    yield
    del Model.__getattribute__
    del AddressPlan.__getattribute__


@pytest.fixture(scope="module")
def example() -> World:
    return current(EXAMPLE)


@pytest.fixture
def world(example: World) -> World:
    return World(example.fleet.model_copy(deep=True), copy.copy(example.plan), example.path)


@pytest.fixture
def heard(world: World, untouched: None) -> dict[Read, str]:
    found: dict[Read, str] = {}
    reads.watch(world.fleet, world.plan, found.__setitem__)
    return found


WAYS: dict[str, tuple[Callable[[Fleet], Any], set[Read]]] = {
    "a field": (lambda fleet: fleet.domain, {("value", "domain")}),
    "a field of an entry": (
        lambda fleet: fleet.pools["cpu"].max,
        {("has", "pools", "cpu"), ("value", "pools", "cpu", "max")},
    ),
    "an entry that is not there": (lambda fleet: fleet.pools.get("none"), {("has", "pools", "none")}),
    "whether one is there": (lambda fleet: "cpu" in fleet.pools, {("has", "pools", "cpu")}),
    "what another file says, which counts by itself": (lambda fleet: fleet.price_book.get("us-west-2"), set()),
    "names": (lambda fleet: list(fleet.teams), {("names", "teams")}),
    "how many": (lambda fleet: len(fleet.teams), {("names", "teams")}),
    "whether any": (lambda fleet: bool(fleet.teams), {("names", "teams")}),
    "names, last first": (lambda fleet: list(reversed(fleet.teams)), {("names", "teams")}),
    "keys": (lambda fleet: fleet.teams.keys() & {"research"}, {("names", "teams")}),
    "a list is one value": (
        lambda fleet: fleet.regions["us-west-2"].zones[0],
        {("has", "regions", "us-west-2"), ("value", "regions", "us-west-2", "zones")},
    ),
    "values of a mapping without entries": (
        lambda fleet: fleet.regions["southcentralus"].quotas.families["standardNDSH100v5Family"],
        {
            ("has", "regions", "southcentralus"),
            ("has", "regions", "southcentralus", "quotas", "families", "standardNDSH100v5Family"),
            ("value", "regions", "southcentralus", "quotas", "families", "standardNDSH100v5Family"),
        },
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_read_is_noted_and_nothing_else(way: str, world: World, heard: dict[Read, str]) -> None:
    read, expected = WAYS[way]
    read(world.fleet)
    assert heard.keys() == expected


def hashed(entry: Any) -> None:
    with pytest.raises(TypeError):  # for the list in it, after all of it was read
        hash(entry)


WHOLE: dict[str, Callable[[Any], Any]] = {
    "dumped": lambda entry: entry.model_dump(),
    "dumped as JSON": lambda entry: entry.model_dump_json(),
    "walked": list,
    "compared": lambda entry: entry == entry.model_copy(update={"max": 1}),
    "hashed": hashed,
    "shown": repr,
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "pickled": pickle.dumps,
    "laid open": vars,
}


@pytest.mark.parametrize("way", WHOLE)
def test_an_entry_that_is_read_as_a_whole_counts_as_a_whole(way: str, world: World, heard: dict[Read, str]) -> None:
    entry = world.fleet.people["alice"]
    WHOLE[way](entry)
    assert ("value", "people", "alice") in heard


SPREAD: dict[str, Callable[[Any], Any]] = {
    "dict": dict,
    "two stars": lambda mapping: {**mapping},
    "items": lambda mapping: list(mapping.items()),
    "values": lambda mapping: list(mapping.values()),
    "copy": lambda mapping: mapping.copy(),
    "or": lambda mapping: mapping | {},
    "or behind": lambda mapping: {} | mapping,
    "update": lambda mapping: {}.update(mapping),
    "equal": lambda mapping: mapping == {},
    "unequal": lambda mapping: mapping != {},
    "json": json.dumps,
    "pickle": pickle.dumps,
    "deep copy": copy.deepcopy,
}


@pytest.mark.parametrize("way", SPREAD)
def test_a_mapping_of_values_hides_none(way: str, world: World, heard: dict[Read, str]) -> None:
    families = world.fleet.regions["southcentralus"].quotas.families
    SPREAD[way](families)
    place = ("regions", "southcentralus", "quotas", "families")
    assert {("names", *place), ("value", *place, "standardNDSH100v5Family")} <= heard.keys()


def test_one_entry_in_several_places_counts_at_each(world: World, untouched: None) -> None:
    region, (west, east) = world.fleet.regions["us-west-2"], ("us-west-2", "us-east-1")
    vars(world.fleet)["regions"] = {west: region, east: region}
    found: dict[Read, str] = {}
    reads.watch(world.fleet, world.plan, found.__setitem__)
    assert region.cloud
    assert found.keys() == {("value", "regions", west, "cloud"), ("value", "regions", east, "cloud")}


def test_the_plan_is_one_part(world: World, heard: dict[Read, str]) -> None:
    world.plan.region("us-west-2")
    assert heard.keys() == {("plan",)}


def test_watched_programs_get_what_others_get(world: World, example: World, untouched: None) -> None:
    other = example
    reads.watch(world.fleet, world.plan, lambda *_: None)
    assert world.fleet.model_dump() == other.fleet.model_dump()
    assert world.fleet == other.fleet
    assert sorted(world.fleet.pools.items()) == sorted(other.fleet.pools.items())


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("c7i.8xlarge, max: 50", "c7i.8xlarge, max: 51", {("value", "pools", "cpu", "max")}),
        ("    nfs: host-1\n", "", {("value", "sites", "lab", "nfs")}),
        ("teams:\n", "teams:\n  more: {gid: 2002}\n", {("names", "teams")}),
        ("  bob: {uid: 3002, team: research}\n", "", {("has", "people", "bob"), ("names", "people")}),
    ],
)
def test_a_part_s_digest_is_another_one_when_the_part_is(
    old: str, new: str, parts: set[Read], tmp_path: Path, world: World, untouched: None
) -> None:
    text = EXAMPLE.read_text()
    assert old in text
    (tmp_path / "fleet.yaml").write_text(text.replace(old, new))
    (tmp_path / "fleet.lock.yaml").write_text(EXAMPLE.with_name("fleet.lock.yaml").read_text())
    changed = current(tmp_path / "fleet.yaml")
    found: dict[Read, str] = {}
    reads.watch(world.fleet, world.plan, found.__setitem__)
    _everything(world.fleet)
    world.plan.aggregates()
    other = {read for read, told in found.items() if reads.digest_of(changed.fleet, changed.plan, read) != told}
    assert {read for read in other if read[1:3] != ("people", "bob") or read[0] == "has"} == parts


def _everything(part: Any) -> None:
    """Reads each field of each entry, one by one."""
    if isinstance(part, Model):
        for name in type(part).model_fields:
            _everything(getattr(part, name))
    elif isinstance(part, dict):
        for key in part:
            _everything(part[key])

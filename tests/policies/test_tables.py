"""Each entry of each rule table takes its accepted rows, refuses its refused ones, and passes no unknown value.

The tables are found in the policies' modules: one added there fails until cases/FOLDER/MODULE.TABLE.yaml has its rows, with the
text that the refusal must contain. Resources there are tagged and given a provider by themselves.
"""

import importlib
import pkgutil
import re
from typing import Any, NamedTuple

import pytest

import policies
from fleet.world import World
from policies import protection
from policies.aws import buckets as aws_buckets
from policies.reading import UNDECIDABLE, values

from .judging import AZURE, HERE, example, findings, load, world_of

CASES = HERE / "cases"
TYPE = re.compile(r"[\w-]+:[\w/]+:\w+")
OPTION = "protect"  # of a resource, known at all times
TAGS = {"landbridge:fleet": "example", "landbridge:owner": "platform"}
AZURE_TAGS = {"landbridge:fleet": "azure-alone", "landbridge:owner": "ops"}


class Entry(NamedTuple):
    """What a rule judges. `finding` is type and path of what it reports of a known value."""

    table: str
    type: str
    path: str
    finding: tuple[str, str]

    def __str__(self) -> str:
        return " ".join(self[:3])


def tables() -> dict[str, dict[str, Any]]:
    """MODULE.TABLE → table, of every constant whose keys are resource types."""
    found = {}
    for module in pkgutil.walk_packages(policies.__path__, "policies."):
        if module.name != "policies.__main__":
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, dict | set | frozenset) and value and all(TYPE.fullmatch(str(k)) for k in value):
                    found[f"{module.name.removeprefix('policies.')}.{name}"] = value
    return found


def entries() -> list[Entry]:
    found: list[Entry] = []
    for table, types in tables().items():
        for type_, row in types.items():
            beside = isinstance(row, aws_buckets.Companion)
            paths = row.paths if beside else row
            found += [
                Entry(table, type_, path, (aws_buckets.BUCKET, type_) if beside else (type_, path)) for path in paths
            ]
    return found


ENTRIES = entries()


def rows(entry: Entry) -> dict[str, Any]:
    *folder, module, table = entry.table.split(".")
    path = CASES.joinpath(*folder, f"{module}.{table}.yaml")
    assert path.exists(), f"{entry.table} has no cases"
    found = load(path).get(entry.type, {}).get(entry.path)
    assert found, f"{entry} has no cases"
    return dict(found)


def judged(entry: Entry, row: dict[str, Any], world: World) -> list[str]:
    """What is found about the entry, in a resource with these properties."""
    props = {name: value for name, value in row.items() if name != OPTION}
    azure = entry.type.startswith(AZURE)
    if protection.taggable(entry.type):
        props["tags"] = tagged(props.get("tags", {}), AZURE_TAGS if azure else TAGS)
    resource = {"type": entry.type, "name": "it", "protect": row.get(OPTION, True), "props": props}
    beside = {"type": aws_buckets.BUCKET, "name": "bucket", "protect": True, "props": {"bucket": "b", "tags": TAGS}}
    resources = [resource] if entry.finding[0] == entry.type else [resource, beside]
    mine = {entry.finding, (entry.type, entry.path)}
    fleet = world_of([entry.type], world)
    return [found.what for found in findings(resources, fleet) if (found.type, found.path) in mine]


def tagged(tags: Any, ours: dict[str, str]) -> Any:
    """A row's own tags with ours; scaling groups list theirs."""
    return {**ours, **tags} if isinstance(tags, dict) else [*({"key": k, "value": v} for k, v in ours.items()), *tags]


@pytest.fixture(scope="module")
def world() -> World:
    return example()


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_an_entry_takes_what_is_accepted(entry: Entry, world: World) -> None:
    accepted = rows(entry).get("accepted")
    assert accepted, f"{entry} has no accepted fixture"
    for row in accepted:
        assert judged(entry, row, world) == [], row
    held = [value for row in accepted for value in values(row, entry.path)]
    assert any(value is not None for value in held), f"no accepted fixture has {entry.path}"


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_an_entry_refuses_what_is_refused(entry: Entry, world: World) -> None:
    refused = rows(entry).get("refused")
    assert refused, f"{entry} has no refused fixture"
    for text, row in refused.items():
        found = judged(entry, row, world)
        assert any(text in what for what in found), (row, found)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.path != OPTION], ids=str)
def test_an_entry_passes_no_unknown_value(entry: Entry, world: World) -> None:
    undecidable = rows(entry).get("undecidable")
    assert undecidable, f"{entry} has no undecidable fixture"
    for row in undecidable:
        found = judged(entry, row, world)
        assert any(what.startswith(UNDECIDABLE) for what in found), (row, found)


def test_no_case_is_left_over() -> None:
    known = {entry[:3] for entry in ENTRIES}
    told = {
        (".".join([*file.relative_to(CASES).parent.parts, file.stem]), type_, path)
        for file in CASES.rglob("*.yaml")
        for type_, paths in load(file).items()
        for path in paths
    }
    assert told - known == set()


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.path != OPTION], ids=str)
def test_the_sdk_has_what_an_entry_names(entry: Entry) -> None:
    assert protection.has_property(entry.type, entry.path.partition(".")[0])

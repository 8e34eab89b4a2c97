"""A record holds as long as nothing that it names is another one, and says what is."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet import reads, witness
from fleet.address.ledger import ledger_path
from fleet.world import World, current
from landbridge.up.unchanged import record as records
from landbridge.up.unchanged.record import Record
from stacks.engine_calls import LOOKUP, REFERENCE

EXAMPLE = Path(__file__).parents[4] / "fleet.yaml"
AROUND = {"our code": "1", "the engine": "2"}
STATE = {"manifest": {"time": "1"}, "resources": [{"urn": "a"}]}
PASSED = {"ASKED": "word"}
OUTPUTS = {"us-west-2": "3"}
TOLD = json.dumps({"args": {}, "provider": "p", "tok": "aws:ssm/getParametersByPath:getParametersByPath"})


@pytest.fixture(scope="module")
def world() -> World:
    return current(EXAMPLE)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """One that was read, and one that was looked for and is not there."""
    (tmp_path / "read").write_text("a")
    return str(tmp_path / "read"), str(tmp_path / "none")


@pytest.fixture
def record(world: World, files: tuple[str, str]) -> Record:
    part = ("value", "pools", "cpu", "max")
    lines = [
        (witness.PART, list(part), reads.digest_of(world.fleet, world.plan, part)),
        (witness.FILE, files[0], witness.digest_of_file(files[0])),
        (witness.FILE, str(world.path), "its parts are told one by one"),
        (witness.FILE, str(ledger_path(world.path)), "as these are"),
        (witness.STAT, files[1], ""),
        (witness.VARIABLE, "ASKED", ""),
        (witness.VARIABLE, "PULUMI_STACK", ""),
        (REFERENCE, "organization/landbridge/us-west-2", ""),
        (LOOKUP, json.loads(TOLD), "4"),
    ]
    return records.made(lines, world, PASSED, AROUND, STATE, OUTPUTS, ["a warning"])


def why(record: Record, world: World, **other: Any) -> str:
    now: dict[str, Any] = {"passed": PASSED, "surroundings": AROUND, "state": STATE, **other}
    return records.changed(record, world, **now)


def test_it_holds_where_nothing_changed(record: Record, world: World, tmp_path: Path) -> None:
    assert why(record, world) == ""
    assert why(record, world, state={**STATE, "manifest": {"time": "2"}}) == ""
    assert why(record, world, passed={**PASSED, "NOT_ASKED": "1"}) == ""
    assert records.others(record, OUTPUTS) == ""
    assert record.lookups == {TOLD: "4"}
    assert record.warnings == ["a warning"]


def test_it_is_the_same_when_it_is_read_again_and_is_its_owner_s_alone(record: Record, tmp_path: Path) -> None:
    file = tmp_path / "record"
    records.write(file, record)
    found = records.read(file)
    assert found is not None
    assert json.dumps(vars(found)) == json.dumps(vars(record))
    assert file.stat().st_mode & 0o077 == 0
    assert "word" not in file.read_text()
    file.write_text(file.read_text()[:-9])
    assert records.read(file) is None
    assert records.read(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"surroundings": {**AROUND, "our code": "9"}}, "our code changed"),
        ({"surroundings": {"our code": "1"}}, "the engine changed"),
        ({"surroundings": {**AROUND, "more": "1"}}, "more changed"),
        ({"state": {"resources": []}}, "its state is another one"),
        ({"passed": {"ASKED": "other"}}, "$ASKED changed"),
        ({"passed": {}}, "$ASKED changed"),
        ({"passed": {**PASSED, "PULUMI_STACK": "mine"}}, "$PULUMI_STACK changed"),
    ],
)
def test_what_the_run_had_counts(other: dict[str, Any], told: str, record: Record, world: World) -> None:
    assert why(record, world, **other) == told


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"day": "2026-01-01"}, "the last run was on 2026-01-01"),
        ({"unknown": ["a program: date"]}, "its program reads a program: date"),
        ({"form": 0}, "the record is of another version"),
        ({"parts": [(["value", "pools", "cpu", "max"], "0")]}, "fleet.yaml: pools.cpu.max changed"),
        ({"parts": [(["plan"], "0")]}, "fleet.yaml: the address plan changed"),
    ],
)
def test_what_it_says_counts(other: dict[str, Any], told: str, record: Record, world: World) -> None:
    assert why(replace(record, **other), world) == told


def test_files_count_also_those_that_were_not_there(record: Record, world: World, files: tuple[str, str]) -> None:
    Path(files[1]).touch()
    assert why(record, world) == f"{files[1]} is there now"
    Path(files[1]).unlink()
    Path(files[0]).write_text("b")
    assert why(record, world) == f"{files[0]} changed"
    Path(files[0]).unlink()
    assert why(record, world) == f"{files[0]} changed"


def test_outputs_of_other_stacks_count(record: Record) -> None:
    assert records.others(record, {"us-west-2": "9"}) == "outputs of us-west-2 changed"
    assert records.others(record, {}) == "outputs of us-west-2 changed"


BROKEN: dict[str, Callable[[Path], object]] = {
    "none": lambda file: file.unlink(),
    "half a line": lambda file: file.write_text('["part", ["plan"], "1"]\n["file", "a'),
    "no program of ours": lambda file: file.write_text('["variable", "HOME", ""]\n'),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_program_that_left_no_whole_account_is_never_left_out(how: str, tmp_path: Path) -> None:
    file = tmp_path / "reads"
    file.write_text('["part", ["plan"], "1"]\n')
    assert records.read_witness(file) == [("part", ["plan"], "1")]
    BROKEN[how](file)
    assert any(kind == witness.UNKNOWN for kind, _, _ in records.read_witness(file))

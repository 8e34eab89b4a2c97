"""Which stacks a run leaves out: those whose records hold, and that read from none that may change in it."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet import reads, witness
from fleet.world import World, current
from landbridge.engine.stack_report import STACK_TYPE
from landbridge.places import Place
from landbridge.up.unchanged import plugins
from landbridge.up.unchanged.known import Known
from stacks.catalogue import catalogue
from stacks.engine_calls import LOOKUP, REFERENCE

EXAMPLE = Path(__file__).parents[4] / "fleet.yaml"
HOME, MAIN, POOL = "us-west-2", "main", "cpu"
AMI = {"args": {}, "provider": "p", "tok": "aws:ec2/getAmi:getAmi"}
READS = {HOME: [], MAIN: [(REFERENCE, f"o/landbridge/{HOME}", "")], POOL: [(LOOKUP, AMI, "an image")]}
KILLED = {"type": "creating", "resource": {"urn": "u", "type": "t"}}


class Bed:
    """Three stacks that have just been brought up."""

    def __init__(self, folder: Path, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.place = world, Place("real", folder, "file:///none", "passphrase", folder)
        self.states: dict[str, dict[str, Any]] = {name: published(a=1) for name in READS}
        self.answer = "an image"
        monkeypatch.setattr(Known, "around", {})
        monkeypatch.setattr(plugins, "again", lambda _place, _passed, asked: dict.fromkeys(asked, self.answer))
        for name, lines in READS.items():
            part = ("value", "domain")
            lines = [(witness.PART, list(part), reads.digest_of(world.fleet, world.plan, part)), *lines]
            (folder / f"{name}.reads").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
            self.known().keep(name, [])

    def known(self, *names: str, full: bool = False) -> Known:
        every = {stack.name: stack for stack in catalogue(self.world.fleet)}
        engines: dict[str, Any] = {name: self.engine(name) for name in READS}
        chosen = {name: every[name] for name in names or READS}
        return Known(self.world, self.place, chosen, engines, "up", full)

    def engine(self, name: str) -> Any:
        return SimpleNamespace(state=lambda: self.states[name])

    def why(self, *names: str, full: bool = False) -> dict[str, str]:
        """What keeps stacks from being left out."""
        known = self.known(*names, full=full)
        known.look()
        assert {name for name, why in known.why.items() if not why} == known.valid.keys()
        return {name: why for name, why in known.why.items() if why}


def published(**outputs: Any) -> dict[str, Any]:
    return {"resources": [{"urn": "u", "type": STACK_TYPE, "outputs": outputs}]}


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bed:
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        shutil.copy(EXAMPLE.with_name(name), tmp_path)
    return Bed(tmp_path, current(tmp_path / "fleet.yaml"), monkeypatch)


def test_what_nothing_has_changed_for_is_left_out(bed: Bed) -> None:
    assert bed.why() == {}
    assert bed.why(full=True) == dict.fromkeys(READS, "asked for by --full or --refresh")


def test_a_stack_that_reads_other_outputs_than_at_its_run_is_looked_at(bed: Bed) -> None:
    bed.states[HOME] = published(a=2)
    # As after somebody's own run of that stack: its record holds again.
    bed.known().keep(HOME, [])
    assert bed.why() == {MAIN: f"outputs of {HOME} changed", POOL: f"it reads from {MAIN}, which is looked at again"}


def test_what_reads_from_a_stack_that_may_change_in_this_run_is_looked_at_too(bed: Bed) -> None:
    bed.states[HOME] = {**published(a=1), "more": 1}
    found = bed.why()
    assert found[HOME] == "its state is another one"
    assert found[MAIN] == f"it reads from {HOME}, which is looked at again"


def test_an_answer_of_a_cloud_that_is_another_one_counts(bed: Bed) -> None:
    bed.answer = "another image"
    assert bed.why() == {POOL: "aws:ec2/getAmi:getAmi says something else"}


@pytest.mark.parametrize("pending", [True, False])
def test_a_run_that_was_killed_or_has_no_record_is_looked_at(bed: Bed, *, pending: bool) -> None:
    if pending:
        bed.states[POOL] = {**bed.states[POOL], "pending_operations": [KILLED]}
    else:
        bed.known().forget(POOL)
    assert bed.why() == {POOL: "its last run was killed" if pending else "no run of it is on record"}


def test_a_run_that_was_killed_leaves_no_record(bed: Bed) -> None:
    bed.known().forget(POOL)
    bed.states[POOL] = {**bed.states[POOL], "pending_operations": [KILLED]}
    bed.known().keep(POOL, [])
    assert not bed.known().file(POOL).exists()

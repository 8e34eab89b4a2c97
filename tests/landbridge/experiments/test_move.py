"""Moves of runs: which are refused, and that one has ended before it is queued elsewhere."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fleet.world import World
from landbridge.access.person import Person
from landbridge.errors import LandbridgeError, UsageError
from landbridge.experiments import again, checks, ending, move
from landbridge.experiments.states import RunState

from . import bed

RECORD = {
    "format": 1,
    "name": "train-1",
    "run": {"command": ["true"], "gpus": 16, "checkpoints": None, "priority": "normal"},
    "hosts": 2,
    "gpus_per_host": 8,
    "image": "example.com/train:1",
    "template": {"about": "x", "parts": {"worker": {"hosts": "all"}}},
    "code": bed.CODE,
    "places": ["elsewhere"],
}


class Cluster:
    """A person in one; `log` has what was done in both, in order. `left` is what is still there, look after look."""

    def __init__(self, name: str, log: list[str], left: list[bool]) -> None:
        self.cluster, self.log, self.left = name, log, left
        self.name, self.team, self.namespace = "bob", "vision", "team-vision"
        made = bed.spec()
        clusters = dict.fromkeys(("main", "second"), made.fleet.clusters["main"])
        fleet = made.fleet.model_copy(update={"clusters": clusters})
        self.spec = made
        self.world = World(fleet, bed.world().plan, bed.PATH)
        self.options = f" --cluster {name} --local"
        self.kube = SimpleNamespace(done=self.done, find=self.find, get=lambda *_: {"items": []})

    def done(self, *words: str, **_: object) -> None:
        self.log.append(f"{self.cluster}: {words[0]}")

    def find(self, *_: str) -> Any:
        there = self.left.pop(0) if self.left else False
        self.log.append(f"{self.cluster}: {'there' if there else 'gone'}")
        return {"kind": "JobSet"} if there else None


Moved = Callable[..., Any]


@pytest.fixture
def log() -> list[str]:
    """What was done in both clusters, in order."""
    return []


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch, log: list[str]) -> Moved:
    monkeypatch.setattr(ending, "GONE_SECONDS", 0.5)

    def moving(
        phase: str = "waits",
        left: tuple[bool, ...] = (),
        checkpoints: str | None = None,
        to: str = "second",
        **homes: str,
    ) -> Any:
        source, target = Cluster("main", log, list(left)), Cluster(to, log, [])
        run = {**cast(dict[str, Any], RECORD["run"]), "checkpoints": checkpoints}
        state = RunState(
            "train-1",
            "vision",
            "bob",
            cast(Any, phase),
            "room",
            datetime.now(UTC),
            16,
            0,
            0,
            "normal",
            0,
            0,
            "",
            ["true"],
        )
        records = SimpleNamespace(write_over=lambda name, record: log.append(f"recorded in {record['cluster']}"))
        monkeypatch.setattr(move.look, "known", lambda *_: state)
        monkeypatch.setattr(move.look, "record", lambda *_: {**RECORD, "run": run})
        monkeypatch.setattr(move, "Records", lambda _: records)
        monkeypatch.setattr(move, "queue", lambda person, launched: log.append(f"queued in {person.cluster}"))
        monkeypatch.setattr(move, "storage_of_shares", lambda person: homes.get(person.cluster, "room"))
        monkeypatch.setattr(checks, "team", lambda _: None)
        monkeypatch.setattr(checks, "share", lambda *_: None)
        monkeypatch.setattr(again, "offered_to", lambda *_: SimpleNamespace(choices=[], hosts=None))
        monkeypatch.setattr(again, "places_of", lambda *_: ("room",))
        return move.move(cast(Person, source), cast(Person, target), "train-1")

    return moving


def test_it_has_ended_before_it_is_queued_in_the_other_one(moved: Moved, log: list[str]) -> None:
    launched = moved(left=(True, False))
    first = ["second: gone", "main: delete", "main: there", "main: gone"]
    assert log == [*first, "recorded in second", "queued in second"]
    assert (launched.name, launched.places, launched.record["cluster"]) == ("train-1", ("room",), "second")


def test_what_does_not_end_is_queued_nowhere_else(moved: Moved, log: list[str]) -> None:
    with pytest.raises(LandbridgeError, match=r"has not: its JobSet is still there\. It is queued nowhere else"):
        moved(left=(True,) * 99)
    assert log[:2] == ["second: gone", "main: delete"]
    assert set(log[2:]) == {"main: there"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"phase": "runs"}, r"keeps no checkpoints.*`landbridge stop train-1 --cluster main --local`"),
        ({"phase": "starts"}, "keeps no checkpoints"),
        (
            {"phase": "runs", "checkpoints": "data", "main": "room", "second": "us-west-2"},
            "shares of main lie in room, those of second in us-west-2",
        ),
        ({"phase": "done"}, "has ended.*`landbridge runs again train-1 --cluster second --local`"),
        ({"phase": "stopped"}, "has ended"),
        ({"to": "main"}, "is in main already"),
    ],
)
def test_what_would_be_lost_is_not_moved(moved: Moved, log: list[str], given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        moved(**given)
    assert not log, "nothing was begun"


def test_one_that_runs_goes_with_its_checkpoints(moved: Moved, log: list[str]) -> None:
    moved(phase="runs", checkpoints="data")
    assert log[-1] == "queued in second"

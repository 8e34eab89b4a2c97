"""Which nodes a roll marks, and from which it takes its marks."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from components.pools.labels import ROLLING
from landbridge.pool import roll, rolling_taint
from landbridge.pool.machines import Look
from landbridge.pool.roll import How, Roll
from landbridge.pool.roll_plan import State

TAINT = {"key": ROLLING.key, "value": ROLLING.value, "effect": ROLLING.effect}


class Kube:
    """The taints that each node was given, by name; none is empty."""

    def __init__(self) -> None:
        self.given: dict[str, list[str]] = {}

    def done(self, _verb: str, _kind: str, name: str, _type: str, patch: str) -> None:
        taints = json.loads(patch.removeprefix("--patch="))["spec"]["taints"]
        self.given[name] = [one["key"] for one in taints or ()]


def node(name: str, *, marked: bool = False) -> dict[str, Any]:
    about = {"name": name, "resourceVersion": "1", "annotations": {rolling_taint.WHY: "before"} if marked else {}}
    return {"metadata": about, "spec": {"taints": [TAINT] if marked else []}}


def state(name: str, **given: Any) -> State:
    return State(name, "group", datetime(2026, 1, 1, tzinfo=UTC), **given)


def test_what_is_to_go_takes_no_new_work_and_what_stays_does_again() -> None:
    """Nodes of machines on their way out are in no state, and stay as they are."""
    kube, told = Kube(), list[str]()
    session: Any = SimpleNamespace(
        admin=kube,
        info=SimpleNamespace(name="main"),
        place=SimpleNamespace(world="local"),
        world=SimpleNamespace(fleet=SimpleNamespace(pools={"gpu": SimpleNamespace(region="us-west-2")})),
    )
    one = Roll(session, "gpu", How(), told.append, lambda _question: None)
    one.wanted = SimpleNamespace(label="image b", template="2")  # type: ignore[assignment]
    states = [state("old", behind=("image",)), state("new"), state("back")]
    nodes = [node("old"), node("new"), node("back", marked=True), node("leaves", marked=True)]
    look = Look((), {it.name: it for it in states}, {it["metadata"]["name"]: it for it in nodes}, {}, frozenset())
    assert one.mark(look)
    assert kube.given == {"old": [ROLLING.key], "back": []}
    assert told == ["gpu: no new work comes to old"]


def test_a_roll_that_is_given_up_marks_no_machine_that_is_on_its_way_out(monkeypatch: Any) -> None:
    kube = Kube()
    nodes = {name: node(name, marked=name != "new") for name in ("old", "new", "leaves")}
    group = SimpleNamespace(live=[SimpleNamespace(name=name) for name in ("old", "new")])
    monkeypatch.setattr(roll.scaling, "of_pool", lambda *_: [group])
    monkeypatch.setattr(roll.usage, "of_pool", lambda *_: nodes)
    session: Any = SimpleNamespace(admin=kube)
    assert roll.unmark(session, "gpu", forget=True) == ["old"]
    assert kube.given == {"old": []}

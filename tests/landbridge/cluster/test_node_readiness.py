"""Whether the machines that a cluster's pools always have are nodes at work."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.world import World, current
from landbridge.cluster import node_readiness
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from tests.support.cloud import ROOT

WHY = "system: not joined: i-1"
LOCAL: Any = SimpleNamespace(world="local", cloud=None)


@pytest.fixture
def world() -> World:
    return current(ROOT / "fleet.yaml")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Counter[str]]:
    """What is Ready at each look; the last answer stays."""
    told: list[Counter[str]] = []
    monkeypatch.setattr(node_readiness.info, "read", lambda *_: None)
    monkeypatch.setattr(node_readiness.local_hosts, "ensure", lambda *_: [])
    monkeypatch.setattr(node_readiness, "Session", lambda *_: None)
    monkeypatch.setattr(node_readiness, "nodes_of", lambda _: [])
    monkeypatch.setattr(node_readiness, "troubles", lambda *_: iter([WHY]))
    monkeypatch.setattr(node_readiness, "ready", lambda _: told.pop(0) if len(told) > 1 else told[0])
    monkeypatch.setattr(node_readiness.time, "sleep", lambda _: None)
    return told


def ensured(world: World, *, wait: bool, place: Place = LOCAL) -> tuple[list[str], list[str]]:
    """What was told meanwhile, and what was noted for afterwards."""
    told: list[str] = []
    noted: list[str] = []
    node_readiness.ensure(world, place, "main", list(world.fleet.pools), told.append, noted.append, wait=wait)
    return told, noted


def test_pools_in_clouds_that_always_have_machines_are_waited_for(world: World) -> None:
    assert node_readiness.least(world.fleet, list(world.fleet.pools)) == {"system": 2}
    assert node_readiness.least(world.fleet, ["cpu", "site-gpu"]) == {}, "a pool that is not up is not waited for"


def test_it_waits_until_there_are_enough_and_says_for_what(world: World, answers: list[Counter[str]]) -> None:
    answers += [Counter(), Counter({"system": 1, "cpu": 9}), Counter({"system": 2})]
    told, noted = ensured(world, wait=True)
    assert told == ["waiting for nodes: system has 0 of 2", "waiting for nodes: system has 1 of 2"]
    assert noted == []


def test_where_nothing_was_changed_a_missing_node_is_a_note_and_no_failure(
    world: World, answers: list[Counter[str]]
) -> None:
    answers.append(Counter({"system": 1}))
    told, noted = ensured(world, wait=False)
    assert told == []
    assert noted == [f"Ready nodes are missing: system has 1 of 2; {WHY}. Look with `landbridge kubectl get nodes`."]


def test_in_the_end_it_says_what_is_missing_and_where_to_look(
    world: World, answers: list[Counter[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers.append(Counter())
    monkeypatch.setitem(node_readiness.READY_SECONDS, "local", 0.0)
    with pytest.raises(
        LandbridgeError, match=rf"system has 0 of 2; {WHY}\. .*get nodes.*landbridge local logs MACHINE"
    ):
        ensured(world, wait=True)


def test_a_wait_that_takes_long_says_what_was_found_there(
    world: World, answers: list[Counter[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers += [Counter(), Counter(), Counter(), Counter({"system": 2})]
    moments = iter((0.0, 0.0, 5.0, 21.0, 22.0))
    monkeypatch.setattr(node_readiness, "time", SimpleNamespace(monotonic=lambda: next(moments), sleep=lambda _: None))
    told, _ = ensured(world, wait=True)
    assert told == ["waiting for nodes: system has 0 of 2"] + 2 * [f"waiting for nodes: system has 0 of 2; {WHY}"]

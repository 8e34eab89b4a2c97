"""A stack's run that a dying part of the local cloud has broken runs once more; any other failure stands."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from landbridge.up import rerun as modules
from landbridge.up.rerun import Again


class World:
    """A local cloud whose parts are told of by hand; `notes` is what a run was told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts, self.answering, self.lives = {"AWS API": 1, "provider host": 1}, True, True
        self.notes: list[str] = []
        self.stop = threading.Event()
        cloud = SimpleNamespace(home=Path("/home"))
        monkeypatch.setattr(modules.processes, "recorded", lambda _: {n: {"starts": s} for n, s in self.starts.items()})
        monkeypatch.setattr(modules.processes, "answers", lambda _: self.answering)
        monkeypatch.setattr(modules.client, "status", lambda _: cloud if self.lives else None)
        monkeypatch.setattr(modules, "NOTICE_SECONDS", 0.3)
        place: Any = SimpleNamespace(cloud=cloud)
        self.again = Again(place, self.stop)

    def through(self, work: Any) -> None:
        self.again.through("main", work, lambda name, why: self.notes.append(f"{name}: {why}"))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def failing(world: World, times: int, dies: str | None) -> tuple[Any, list[int]]:
    done: list[int] = []

    def work(_name: str) -> None:
        done.append(1)
        if len(done) <= times:
            if dies:
                world.starts[dies] += 1
            raise ValueError("broken")

    return work, done


def test_it_runs_once_more_with_a_note_that_names_the_part(world: World) -> None:
    work, done = failing(world, 1, "provider host")
    world.through(work)
    assert len(done) == 2
    (note,) = world.notes
    assert note.startswith("main: the provider host of the local cloud died meanwhile")


def test_a_failure_of_its_own_stands(world: World) -> None:
    work, done = failing(world, 1, None)
    with pytest.raises(ValueError, match="broken"):
        world.through(work)
    assert (len(done), world.notes) == (1, [])


def test_it_ends_when_a_part_dies_each_time(world: World) -> None:
    work, done = failing(world, 9, "AWS API")
    with pytest.raises(ValueError, match="broken"):
        world.through(work)
    assert len(done) == modules.TIMES


def test_one_that_has_just_died_is_waited_for(world: World) -> None:
    def later() -> None:
        world.starts["AWS API"] += 1
        world.answering = True

    def work(_name: str) -> None:
        done.append(1)
        if len(done) == 1:
            world.answering = False
            threading.Timer(0.1, later).start()
            raise ValueError("broken")

    done: list[int] = []
    world.through(work)
    assert len(done) == 2


def test_one_that_was_still_coming_up_as_the_work_began_is_waited_for(world: World) -> None:
    world.answering = False
    work, done = failing(world, 1, None)
    threading.Timer(0.1, lambda: setattr(world, "answering", True)).start()
    world.through(work)
    assert len(done) == 2


@pytest.mark.parametrize("what", ["interrupted", "gone"])
def test_nothing_is_tried_again_after_an_interrupt_or_the_clouds_end(world: World, what: str) -> None:
    work, done = failing(world, 1, "AWS API")
    if what == "gone":
        world.lives = False
    else:
        world.stop.set()
    with pytest.raises(ValueError, match="broken"):
        world.through(work)
    assert (len(done), world.notes) == (1, [])


def test_on_real_clouds_every_failure_stands() -> None:
    place: Any = SimpleNamespace(cloud=None)

    def work(_name: str) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        Again(place, threading.Event()).through("main", work, lambda *_: pytest.fail("it resumed"))

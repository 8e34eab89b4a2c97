"""Waiting for what comes by itself: as soon as it is there, and no longer than it may take."""

from types import SimpleNamespace

import pytest

from landbridge import waiting
from landbridge.waiting import NotYet, until


class Late(Exception):
    """Its time is over."""


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: sum(found), sleep=found.append)
    monkeypatch.setattr(waiting, "time", clock)
    return found


def test_it_gives_what_it_sees_first(slept: list[float]) -> None:
    looks = iter(("", None, "there", "later"))
    assert until(lambda: next(looks), 10, 0.5, Late) == "there"
    assert slept == [0.5, 0.5]


def test_when_the_time_is_over_it_says_what_ails_it_then(slept: list[float]) -> None:
    looks = iter(range(100))

    def look() -> bool:
        raise NotYet(f"look {next(looks)}")

    with pytest.raises(Late, match=r"^look 3$"):
        until(look, 2, 1, Late)
    assert slept == [1, 1, 1], "the last look is after the time, so that one that was long in coming counts"
    with pytest.raises(Late, match=r"^$"):
        until(lambda: False, 2, 1, Late)


def test_any_other_failure_is_told_at_once(slept: list[float]) -> None:
    def look() -> bool:
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        until(look, 2, 1, Late)
    assert slept == []

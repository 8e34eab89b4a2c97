"""Tries what fails for a while only."""

from types import SimpleNamespace

import pytest

from local import waiting
from local.waiting import persist


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: sum(found), sleep=found.append))
    return found


def failing(times: int) -> int:
    """What does so many times by KeyError."""
    left = iter(range(times))

    def attempt() -> int:
        for number in left:
            raise KeyError(number)
        return times

    return persist(attempt, 2, 1, KeyError)


def test_it_gives_what_it_comes_to(slept: list[float]) -> None:
    assert failing(0) == 0
    assert failing(2) == 2
    assert slept == [1, 1]


def test_its_last_failure_is_raised(slept: list[float]) -> None:
    with pytest.raises(KeyError, match="3"):
        failing(9)
    assert slept == [1, 1, 1]
    with pytest.raises(ValueError, match="x"):
        persist(lambda: int("x"), 2, 1, KeyError)

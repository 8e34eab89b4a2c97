"""A run's hosts wait for each other."""

import pytest

from services.code import peers
from services.code.peers import Peers, known
from services.code.source import FetchError


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(peers, "HOLD_SECONDS", 0.0)


def test_hosts_that_are_there_are_not_waited_for() -> None:
    Peers(["localhost"]).wait(30)
    assert not known("nobody.invalid")


def test_it_waits_until_the_last_one_is_there() -> None:
    asked: list[str] = []

    def is_known(name: str) -> bool:
        asked.append(name)
        return name == "a" or asked.count("b") > 1

    Peers(["a", "b"], is_known).wait(30)
    assert asked == ["a", "b", "b"]


def test_one_that_was_there_and_has_ended_counts() -> None:
    """It may have had little to do, while another still fetched its code."""
    asked: list[str] = []

    def is_known(name: str) -> bool:
        asked.append(name)
        return asked.count("a") == 1 if name == "a" else asked.count("b") > 5

    Peers(["a", "b"], is_known).wait(30)


def test_who_never_comes_is_told_by_name() -> None:
    with pytest.raises(FetchError, match="a and 1 more of 2 hosts have no address after 0 seconds"):
        Peers(["a", "b"], lambda _: False).wait(0)

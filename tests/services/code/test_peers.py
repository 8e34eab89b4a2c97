"""A run's hosts wait for each other."""

import pytest

from services.code.peers import known, wait
from services.code.source import FetchError


def test_hosts_that_are_there_are_not_waited_for() -> None:
    wait(["localhost"], 0)
    assert not known("nobody.invalid")


def test_it_waits_until_the_last_one_is_there() -> None:
    asked: list[str] = []

    def is_known(name: str) -> bool:
        asked.append(name)
        return name == "a" or asked.count("b") > 1

    wait(["a", "b"], 10, is_known)
    assert asked == ["a", "b", "b"]


def test_who_never_comes_is_told_by_name() -> None:
    with pytest.raises(FetchError, match="a and 1 more of 2 hosts have no address after 0 seconds"):
        wait(["a", "b"], 0, lambda _: False)

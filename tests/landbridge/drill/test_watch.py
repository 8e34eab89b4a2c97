"""How the drill of a roll sees for itself what is away."""

import socket
import threading
from typing import Any

import pytest

from landbridge.drill import rolling
from landbridge.drill.rolling import Watch


def watch(*looks: set[str]) -> Watch:
    """One that sees these, look after look."""
    bench: Any = type("Bench", (), {"session": None, "info": type("Info", (), {"machines": {"a": 1, "b": 1}})()})()
    made = Watch.__new__(Watch)
    made.bench, made.ended, made.samples, made.most, made.wrong = bench, threading.Event(), 0, 0, []
    left = list(looks)

    def away() -> set[str]:
        found = left.pop(0)
        if not left:
            made.ended.set()
        return found

    made.away = away  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize(
    ("looks", "wrong"),
    [
        ([{"a"}, {"a"}, {"a"}, set(), {"b"}, {"b"}, {"b"}], ""),
        ([{"a"}, {"a", "b"}, {"a", "b"}, {"b"}, {"b"}], ""),  # one came late as the other went
        ([{"a"}, {"a", "b"}, {"a", "b"}, {"a", "b"}], "away at once: a, b"),
        ([{"a", "the majority of etcd main"}] * 3, "away at once: a, the majority of etcd main"),
    ],
)
def test_only_what_three_looks_running_see_is_wrong(
    looks: list[set[str]], wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rolling, "LOOK_SECONDS", 0.0)
    made = watch(*looks)
    made.work()
    assert made.wrong[:1] == ([wrong] if wrong else [])
    assert made.most == (2 if wrong == "away at once: a, b" else 1)


class Answers:
    """An API that answers so, or raises."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def call(self, *_given: Any, **_more: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer, ""

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("answer", "serves"), [(200, True), (500, False), (TimeoutError(), True), (ConnectionResetError(), False)]
)
def test_a_slow_api_server_is_not_away(answer: Any, monkeypatch: pytest.MonkeyPatch, *, serves: bool) -> None:
    made = watch(set())
    made.bench.writer = type("Writer", (), {"credential": None})()  # type: ignore[assignment]
    monkeypatch.setattr(rolling, "Api", lambda *_given: Answers(answer))
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(rolling, "API_PORT", server.getsockname()[1])
        assert made.serves("127.0.0.1") is serves
    assert not made.serves("127.0.0.1"), "nobody listens"

"""The client of Kubernetes' API speaks on lines that are kept, which the server may close at any time."""

import http.client
import ssl
from typing import Any

import pytest

import kube_http


class Line:
    """Answers `{}` until `ends`, which is raised from then on."""

    def __init__(self, ends: Exception | None) -> None:
        self.ends, self.asked, self.closed = ends, 0, False

    def request(self, *_: Any) -> None:
        self.asked += 1
        if self.ends and self.asked > 1:
            raise self.ends

    def getresponse(self) -> Any:
        if self.ends and self.asked > 1:
            raise self.ends
        return type("Answer", (), {"status": 200, "read": lambda _: b"{}"})()

    def close(self) -> None:
        self.closed = True


def kube(monkeypatch: pytest.MonkeyPatch, *lines: Line) -> kube_http.Kube:
    made, waiting = kube_http.Kube("https://10.0.0.1:6443", "ca"), list(lines)
    monkeypatch.setattr(made, "connect", lambda _: waiting.pop(0))
    return made


@pytest.mark.parametrize(
    "ends", [http.client.RemoteDisconnected(), BrokenPipeError(), ssl.SSLEOFError(8, "EOF occurred")]
)
def test_a_line_that_the_server_has_closed_meanwhile_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, ends: Exception
) -> None:
    old, new = Line(ends), Line(None)
    speaks = kube(monkeypatch, old, new)
    assert speaks.ask("GET", "/a") == {}
    assert speaks.ask("PUT", "/b", {}) == {}
    assert (old.closed, new.asked) == (True, 1)


def test_a_new_line_that_ends_at_once_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line(ssl.SSLEOFError(8, "EOF occurred"))
    line.asked = 1
    with pytest.raises(OSError, match=r"GET /a: .*EOF occurred"):
        kube(monkeypatch, line).ask("GET", "/a")


def test_an_answer_that_never_came_is_not_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been done."""
    speaks = kube(monkeypatch, Line(TimeoutError("timed out")), Line(None))
    speaks.ask("GET", "/a")
    with pytest.raises(OSError, match="PATCH /b: timed out"):
        speaks.ask("PATCH", "/b", {})

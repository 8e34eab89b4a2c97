"""`landbridge dashboard`: its file, its end, its mistakes, and whom it asks as."""

import errno
import os
import threading
import urllib.request
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result

from landbridge.cluster.kube import Kube
from landbridge.cluster.session import Session
from landbridge.commands import COMMANDS, dashboard, landbridge
from landbridge.dashboard import ask
from landbridge.dashboard.ask import Asking, Brief, asking
from landbridge.dashboard.server import SOCKET, Server
from landbridge.errors import UsageError
from landbridge.remote_execution import CommandResult

from . import played


@pytest.fixture
def _cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small one, whoever opens it."""
    monkeypatch.delenv(SOCKET, raising=False)
    whose = played.person(played.small(), tmp_path)
    monkeypatch.setattr(dashboard, "opened", lambda **_: whose)
    monkeypatch.setattr(dashboard, "asking", lambda person: Asking(person, person.kube))


def ran(*words: str) -> Result:
    return CliRunner().invoke(landbridge, ["dashboard", *words], standalone_mode=False)


def test_it_is_a_command() -> None:
    assert COMMANDS["dashboard"] == ("dashboard", "dashboard")
    told = ran("--help").output
    for wanted in ("--port", "--once", "--no-open", "--kubeconfig", "--team", "--local"):
        assert wanted in told


@pytest.mark.usefixtures("_cluster")
def test_once_writes_the_first_page(tmp_path: Path) -> None:
    done = ran("--once", str(tmp_path / "page.html"))
    assert done.return_value == 0
    assert "The page is in" in done.output
    assert "host-1" in (tmp_path / "page.html").read_text()


@pytest.mark.usefixtures("_cluster")
def test_a_file_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    error = ran("--once", str(tmp_path / "no/page.html")).exception
    assert isinstance(error, UsageError)
    assert str(error).endswith(f"no/page.html: {os.strerror(errno.ENOENT)}: name another file with --once.")


def test_a_port_and_a_file_are_not_both() -> None:
    error = ran("--once", "page.html", "--port", "8000").exception
    assert isinstance(error, UsageError)
    assert str(error) == "--once writes a file, and serves nothing. Leave out --port 8000."


@pytest.mark.usefixtures("_cluster")
def test_ctrl_c_ends_it_and_its_port(monkeypatch: pytest.MonkeyPatch) -> None:
    used = list[Server]()

    def interrupted(server: Server) -> None:
        used.append(server)
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "serve_forever", interrupted)
    done = ran("--no-open")
    assert (done.return_value, done.exception) == (0, None)
    assert f"The GPUs of main are at {used[0].url} until Ctrl-C." in done.output
    assert used[0].socket.fileno() == -1
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(used[0].url, timeout=5)


@pytest.mark.usefixtures("_cluster")
def test_a_browser_is_opened_where_that_is_said_and_never_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[str]()
    monkeypatch.setattr(webbrowser, "open", shown.append)
    monkeypatch.setattr(Server, "serve_forever", lambda _: None)
    ran()
    ran("--no-open")
    assert shown == []
    ran("--open")
    assert [url.startswith("http://127.0.0.1:") for url in shown] == [True]


def test_operators_have_prometheus_asked_and_people_do_not(tmp_path: Path) -> None:
    person = played.person(Kube("theirs"), tmp_path, "ann", "vision")
    found = asking(person)
    assert found.prometheus is None
    assert found.person.kube == Brief("theirs")
    person.session = cast(Session, SimpleNamespace())
    assert asking(person).prometheus == Brief("theirs")


def test_prometheus_is_not_waited_for_long_and_gets_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()

    def run(_: Kube, *words: str, stdin: str, seconds: float) -> CommandResult:
        asked.append((words, seconds))
        return CommandResult(0, "[]", "")

    monkeypatch.setattr(Kube, "_run", run)
    assert ask.alarms.asked(Brief(""), ask.ACTIVE) == []
    ((words, seconds),) = asked
    assert (words[0], words[-1], seconds) == ("exec", ask.ACTIVE, Brief.SECONDS)
    assert not any("request-timeout" in word for word in words)


def test_prometheus_is_asked_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question is answered once all have come."""
    kube, all_there = played.small(), threading.Barrier(3)
    answer = kube.run

    def run(*words: str, **how: Any) -> CommandResult:
        if words[0] == "exec":
            all_there.wait(20)
        return answer(*words, **how)

    monkeypatch.setitem(vars(kube), "run", run)
    found = played.asking(kube, tmp_path).snapshot()
    assert (found.measured, len(found.alarms), len(found.links), len(found.activity)) == (True, 2, 3, 3)

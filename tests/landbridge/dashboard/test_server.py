"""The pages over HTTP: on the loopback, for those who call it by its own name, and for reading."""

import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from landbridge.dashboard.server import HERE, SOCKET, Newest, Server, listening
from landbridge.dashboard.snapshot import Snapshot
from landbridge.errors import LandbridgeError, UsageError

from .played import Played, asking, small

ROOT = Path(__file__).parents[3]


class Answer(NamedTuple):
    status: int
    body: str
    headers: Mapping[str, str]


class Site(NamedTuple):
    server: Server
    kube: Played

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    def ask(self, path: str = "/", host: str | None = None, method: str = "GET") -> Answer:
        line = http.client.HTTPConnection(HERE, self.port, timeout=20)
        line.putrequest(method, path, skip_host=True)
        if host != "":
            line.putheader("Host", host or f"{HERE}:{self.port}")
        line.endheaders()
        told = line.getresponse()
        found = Answer(told.status, told.read().decode(), dict(told.getheaders()))
        line.close()
        return found


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    kube = small()
    listens = listening(0)
    monkeypatch.delenv(SOCKET)
    with Server(listens, Newest(asking(kube, tmp_path).snapshot)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield Site(server, kube)
        server.shutdown()
        thread.join()


def test_each_page_is_there(site: Site) -> None:
    for path, wanted in {
        "/": "GPUs at a glance",
        "/?any=thing": "GPUs at a glance",
        "/runs/team-vision/train": "Run train",
        "/nodes/host-2": "Machine host-2",
    }.items():
        found = site.ask(path)
        assert (found.status, wanted in found.body) == (200, True), path
        assert found.headers["Content-Type"] == "text/html; charset=utf-8"


def test_the_json_is_that_of_the_snapshot(site: Site) -> None:
    found = site.ask("/api/snapshot.json")
    assert found.headers["Content-Type"].startswith("application/json")
    made = json.loads(found.body)
    assert made["cluster"] == "main"
    assert made["queues"]["runs"][0]["name"] == "train"


@pytest.mark.parametrize(
    "path", ["/nodes/nobody", "/runs/team-vision/nobody", "/nodes", "/elsewhere", "/../x", "/nodes/"]
)
def test_what_is_not_there_is_told(site: Site, path: str) -> None:
    found = site.ask(path)
    assert found.status == 404
    assert found.headers["Content-Type"].startswith("text/plain")


def test_whoever_calls_it_by_another_name_is_refused(site: Site) -> None:
    for host in ("evil.example.com", f"evil.example.com:{site.port}", HERE, f"{HERE}:{site.port + 1}", ""):
        found = site.ask("/api/snapshot.json", host)
        assert found.status == 421, host
        assert "host-1" not in found.body
    assert site.ask(host=f"LocalHost:{site.port}").status == 200
    assert site.kube.asked


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "ELSE"])
def test_nothing_but_reading_is_taken(site: Site, method: str) -> None:
    found = site.ask(method=method)
    assert (found.status, found.headers["Allow"]) == (405, "GET")
    assert site.kube.asked == []


def test_browsers_are_told_to_load_nothing_else_and_to_keep_nothing(site: Site) -> None:
    found = site.ask().headers
    assert found["Content-Security-Policy"].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "frame-ancestors 'none'" in found["Content-Security-Policy"]
    assert found["Cache-Control"] == "no-store"
    assert found["X-Content-Type-Options"] == "nosniff"
    assert found["Server"].strip() == "landbridge"
    assert not any(name.startswith("Access-Control") for name in found)


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (LandbridgeError("kubectl is missing: it is nowhere."), 503, "kubectl is missing: it is nowhere.\n"),
        (KeyError("x"), 500, "A mistake in landbridge: KeyError: 'x'\n"),
    ],
)
def test_what_goes_wrong_is_told_and_asked_again(site: Site, error: Exception, status: int, told: str) -> None:
    newest, kept = site.server.newest, site.server.newest._ask

    def fails() -> Snapshot:
        raise error

    newest._ask = fails
    found = site.ask()
    assert (found.status, found.body) == (status, told)
    newest._ask = kept
    assert site.ask().status == 200


def test_ten_tabs_ask_the_cluster_once(site: Site) -> None:
    with ThreadPoolExecutor(10) as tabs:
        found = [*tabs.map(lambda _: site.ask(), range(10))]
    assert {one.status for one in found} == {200}
    assert len(site.kube.asked) == len({*site.kube.asked}) == 7


def test_after_a_while_it_is_asked_again(tmp_path: Path) -> None:
    kube = small()
    newest = Newest(asking(kube, tmp_path).snapshot, seconds=0)
    assert newest.get().taken < newest.get().taken
    assert len(kube.asked) == 14


def test_it_listens_on_the_loopback_alone(site: Site) -> None:
    assert site.server.socket.getsockname()[0] == HERE
    assert site.server.url == f"http://{HERE}:{site.port}/"


def test_a_taken_port_is_told(site: Site) -> None:
    with pytest.raises(UsageError, match=rf"^--port {site.port}: address already in use\. Name another one, or none"):
        listening(site.port)


def test_inside_the_local_cloud_the_socket_is_that_of_outside() -> None:
    """The command starts itself again in there, with another loopback."""
    listens = listening(0)
    told = os.environ.pop(SOCKET)
    try:
        code = "from landbridge.dashboard.server import listening; print(listening(0).getsockname()[1])"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, SOCKET: told},
            cwd=ROOT,
            capture_output=True,
            text=True,
            close_fds=False,
            check=True,
        )
        assert int(done.stdout) == listens.getsockname()[1]
    finally:
        listens.close()


def test_a_socket_that_is_none_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for told in ("none", "987"):
        monkeypatch.setenv(SOCKET, told)
        with listening(0) as made:
            assert made.getsockname()[0] == HERE
        monkeypatch.delenv(SOCKET)

"""The past of a VictoriaLogs on the disk of one that begins: two real ones, and the programs as the add-on runs them."""

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from landbridge.monitoring.kept_logs import at
from services.log_history.fetching import fetch
from services.log_history.giving import days, served
from tests.support.apiserver import HERE, free_port
from tests.support.logs import store
from tests.support.waiting import eventually

DAYS = 3


def insert(address: str, *words: str) -> None:
    """A line a day, from today back."""
    now = datetime.now(UTC)
    lines = [
        {"_time": (now - timedelta(days=ago)).isoformat(), "_msg": f"{text} {ago}", "file": "f"}
        for text in words
        for ago in range(DAYS)
    ]
    body = "\n".join(map(json.dumps, lines)).encode()
    url, kind = f"{address}/insert/jsonline?_stream_fields=file", {"Content-Type": "application/stream+json"}
    request = urllib.request.Request(url, body, kind)
    with urllib.request.urlopen(request, timeout=30):
        pass


def found(address: str) -> list[str]:
    return sorted(one["_msg"] for one in at(f"{address}/select/logsql/query")('{file="f"}'))


def expected(*words: str) -> list[str]:
    return sorted(f"{text} {ago}" for text in words for ago in range(DAYS))


@contextlib.contextmanager
def giver(data: Path, address: str) -> Iterator[str]:
    pages = served(f"{HERE}:0", data, address)
    yield f"http://{HERE}:{pages.server_address[1]}"
    pages.shutdown()


def test_one_that_begins_has_all_days_of_the_other_and_goes_on_with_them(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    own = free_port()
    with store(first, free_port()) as address, giver(first / "data", address) as gives:
        insert(address, "said")
        eventually(lambda: found(address) == expected("said"), 30)
        (second / "data").mkdir(parents=True)
        # As its pod does, whose own address is left out.
        words = [f"--data={second / 'data'}", "--own=victoria-logs-1", "http://victoria-logs-1.x:1", gives]
        given = [sys.executable, "-m", "services.log_history", "fetch", *words]
        done = subprocess.run(given, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, f"log history: {DAYS} days are here\n")
        assert not (second / "data/.history").exists()
        with store(second, own) as begun:
            assert found(begun) == expected("said")
            insert(begun, "later")
            eventually(lambda: found(begun) == expected("said", "later"), 30)
        # What was lent is given back, and a store that has days keeps its own.
        assert not list((first / "data").glob("partitions/*/snapshots/*"))
        insert(address, "not for the second")
        fetch(second / "data", gives, patience=0)
    with store(second, own) as again:
        # The test ends a store without a moment to write what is in memory.
        assert set(expected("said")) <= set(found(again)) <= set(expected("said", "later"))


def test_two_that_begin_at_once_do_not_wait_for_each_other(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    with giver(tmp_path / "first", f"http://{HERE}:{free_port()}") as gives:
        fetch(tmp_path / "second", gives, patience=600)
    assert not list((tmp_path / "second").iterdir())


def test_one_whose_store_is_away_is_waited_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It has days, so there is something to wait for; and then the new one begins without."""
    (tmp_path / "first/partitions/20261130").mkdir(parents=True)
    (tmp_path / "second").mkdir()
    with giver(tmp_path / "first", f"http://{HERE}:{free_port()}") as gives:
        fetch(tmp_path / "second", gives, patience=2.5)
    said = capfd.readouterr().err
    assert said.count("the store makes no snapshot") == 3
    assert said.endswith("log history: begins without the past, which nobody gave\n")
    assert not days(tmp_path / "second")


class BreaksOff(BaseHTTPRequestHandler):
    """Half of what it has been given to give."""

    protocol_version = "HTTP/1.1"
    whole = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        half = self.whole[: len(self.whole) // 2]
        self.wfile.write(b"%x\r\n%s\r\n" % (len(half), half))
        self.close_connection = True


def test_half_of_an_answer_is_none(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "second").mkdir()
    with store(tmp_path / "first", free_port()) as address, giver(tmp_path / "first/data", address) as gives:
        insert(address, "said")
        eventually(lambda: found(address) == expected("said"), 30)
        with urllib.request.urlopen(f"{gives}/history", timeout=30) as answer:
            BreaksOff.whole = answer.read()
    broken = ThreadingHTTPServer((HERE, 0), BreaksOff)
    Thread(target=broken.serve_forever, daemon=True).start()
    fetch(tmp_path / "second", f"http://{HERE}:{broken.server_address[1]}", patience=0)
    broken.shutdown()
    assert "begins without the past" in capfd.readouterr().err
    assert not list((tmp_path / "second").iterdir())

"""GET /history: all that a VictoriaLogs has, as a tar of its days.

Of each day it makes a snapshot (docs.victoriametrics.com/victorialogs, "Partitions lifecycle"), which are links to
files that nobody changes. They go when the answer has ended.
"""

import functools
import json
import sys
import tarfile
import threading
import urllib.parse
import urllib.request
from collections.abc import Sequence
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import prometheus_client

from services.pages import Watched

HISTORY, PARTITIONS = "/history", "partitions"
SECONDS, BLOCK = 300.0, 1 << 20
SNAPSHOT = "internal/partition/snapshot"


class Chunks:
    """A file for the answer's body; one that is not ended is no whole answer to whoever asked."""

    def __init__(self, out: Any) -> None:
        self.out = out

    def write(self, data: bytes) -> int:
        if data:
            self.out.write(b"%x\r\n%s\r\n" % (len(data), data))
        return len(data)

    def end(self) -> None:
        self.out.write(b"0\r\n\r\n")


class Giver(Watched):
    protocol_version = "HTTP/1.1"

    def __init__(self, data: Path, store: str, *args: Any) -> None:
        self.data, self.store = data, store
        super().__init__({"/healthz": lambda: b"ok\n", "/metrics": prometheus_client.generate_latest}, *args)

    def do_GET(self) -> None:  # noqa: N802  (as http.server calls it)
        if self.path != HISTORY:
            return super().do_GET()
        self.close_connection = True
        if not days(self.data):
            return self._say(204)
        try:
            snapshots = self._asked("create")
        except (OSError, ValueError) as error:
            complain(f"the store makes no snapshot: {error}")
            return self._say(503)
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/x-tar")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            body = Chunks(self.wfile)
            packed(body, [Path(one) for one in snapshots])
            body.end()
        except OSError as error:
            complain(f"an answer broke off: {error}")
        finally:
            self._forget(snapshots)
        return None

    def _say(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _asked(self, what: str, **query: str) -> list[str]:
        """Of the store. Raises OSError and ValueError."""
        url = f"{self.store}/{SNAPSHOT}/{what}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=SECONDS) as answer:  # noqa: S310
            found: list[str] = json.loads(answer.read() or b"[]")
            return found

    def _forget(self, snapshots: Sequence[str]) -> None:
        for one in snapshots:
            try:
                self._asked("delete", path=one)
            except (OSError, ValueError) as error:
                # The store does so itself after three days (-snapshotsMaxAge).
                complain(f"{one} is left there: {error}")


def days(data: Path) -> list[Path]:
    folder = data / PARTITIONS
    return [one for one in folder.iterdir() if not one.name.startswith(".")] if folder.exists() else []


def packed(out: Any, snapshots: Sequence[Path]) -> None:
    """Of DATA/partitions/DAY/snapshots/NAME as DAY."""
    with tarfile.open(fileobj=out, mode="w|", bufsize=BLOCK) as tar:
        for one in snapshots:
            tar.add(one, one.parents[1].name)


def complain(text: str) -> None:
    sys.stderr.write(f"log history: {text}\n")
    sys.stderr.flush()


def served(address: str, data: Path, store: str) -> ThreadingHTTPServer:
    """Raises ValueError, OSError."""
    host, _, port = address.rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), functools.partial(Giver, data, store))
    threading.Thread(target=server.serve_forever, name="giver", daemon=True).start()
    return server

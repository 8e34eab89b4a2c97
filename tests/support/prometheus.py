"""Upstream's programs as processes of a test, on ports of their own."""

import contextlib
import json
import os
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from local.kubernetes import BIN
from tests.support.apiserver import HERE
from tests.support.children import DYING_WITH_US
from tests.support.waiting import eventually

Json = Any


@contextlib.contextmanager
def running(name: str, log: Path, *words: str, **environment: str) -> Iterator[None]:
    with log.open("wb") as output:
        command = [*DYING_WITH_US, str(BIN / name), *words]
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **environment})
    try:
        yield
        assert process.poll() is None, log.read_text()
    finally:
        process.kill()
        process.wait()


def get(port: int, path: str) -> Json:
    with urllib.request.urlopen(f"http://{HERE}:{port}{path}", timeout=10) as answer:
        return json.loads(answer.read())


def post(port: int, path: str, document: Json) -> None:
    asked = urllib.request.Request(
        f"http://{HERE}:{port}{path}", json.dumps(document).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(asked, timeout=10).close()


def ready(port: int) -> None:
    def is_ready() -> bool:
        with urllib.request.urlopen(f"http://{HERE}:{port}/-/ready", timeout=5) as answer:
            return bool(answer.status == 200)

    eventually(is_ready, 60, (OSError,))


class Answering(ThreadingHTTPServer):
    """Gives `page` to who gets, and keeps by path what is posted, with who says to be allowed."""

    def __init__(self, page: str = "") -> None:
        self.page, self.heard = page, list[tuple[str, Json]]()
        self.allowed: dict[str, str | None] = {}
        super().__init__((HERE, 0), Answer)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Answer(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self._say(self.server.page.encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.allowed[self.path] = self.headers["Authorization"]
        packed = self.headers["Content-Encoding"] == "snappy"
        self.server.heard.append((self.path, body if packed else json.loads(body)))
        self._say(b"{}")

    def _say(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


@contextlib.contextmanager
def answering(page: str = "") -> Iterator[Answering]:
    with Answering(page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()

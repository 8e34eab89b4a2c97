"""What these tests run: the programs of tools/audit.lock, once, in the user's cache."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from progress import Progress
from release import needed
from running import cache_folder

from . import ROOT


@pytest.fixture(scope="session")
def audit_tools() -> Path:
    """The folder of pip-audit and of the Python that knows CycloneDX."""
    return needed.python(ROOT, cache_folder(), ROOT / ".landbridge/logs/release", Progress())


@pytest.fixture
def osv() -> Iterator[Callable[[dict[str, list[dict[str, Any]]]], str]]:
    """Starts an OSV that knows weaknesses by package; gives its URL."""
    running: list[ThreadingHTTPServer] = []

    def serve(known: dict[str, list[dict[str, Any]]]) -> str:
        class Osv(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                found = known.get(asked["package"]["name"], [])
                data = json.dumps({"vulns": found} if found else {}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Osv)
        Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1/query"

    yield serve
    for server in running:
        server.shutdown()
        server.server_close()

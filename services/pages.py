"""A service's own pages: what it counts, as Prometheus reads it, and that it lives."""

import functools
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import prometheus_client
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

Made = Callable[[], bytes]


def watched(address: str, metrics: Made = prometheus_client.generate_latest) -> ThreadingHTTPServer:
    """A server of /metrics and /healthz. Raises ValueError, OSError."""
    host, _, port = address.rpartition(":")
    well: Made = lambda: b"ok\n"  # noqa: E731
    # /health is what dcgm-exporter is asked for, in whose place gpu_metrics may stand.
    pages: Mapping[str, Made] = {"/healthz": well, "/health": well, "/metrics": metrics}
    server = ThreadingHTTPServer((host, int(port)), functools.partial(Watched, pages))
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


class Watched(BaseHTTPRequestHandler):
    """It answers, hence it lives: whether clouds answer is no reason to start it anew."""

    def __init__(self, pages: Mapping[str, Made], *args: Any) -> None:
        self.pages = pages
        super().__init__(*args)

    def do_GET(self) -> None:
        made = self.pages.get(self.path)
        body = made() if made else None
        self.send_response(404 if body is None else 200)
        # Prometheus 3 takes nothing that does not say what it is.
        self.send_header("Content-Type", CONTENT_TYPE_PLAIN_0_0_4)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Not a line a look."""

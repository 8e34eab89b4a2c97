"""A service's own pages: what it counts, as Prometheus reads it, and that it lives."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import prometheus_client


def watched(address: str) -> ThreadingHTTPServer:
    """A server of /metrics and /healthz. Raises OSError."""
    host, _, port = address.rpartition(":")
    server = ThreadingHTTPServer((host, int(port)), Watched)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


PAGES: dict[str, Callable[[], bytes]] = {"/healthz": lambda: b"ok\n", "/metrics": prometheus_client.generate_latest}


class Watched(BaseHTTPRequestHandler):
    """It answers, hence it lives: whether clouds answer is no reason to start it anew."""

    def do_GET(self) -> None:
        made = PAGES.get(self.path)
        body = made() if made else None
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Not a line a look."""

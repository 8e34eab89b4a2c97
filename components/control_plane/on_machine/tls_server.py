"""Answers GET by TLS, each call in a thread of its own: what the control plane's own servers have in common."""

import http.client
import http.server
import socket
import ssl
from pathlib import Path
from typing import Any

IDLE_SECONDS = 90.0


class Unanswered(Exception):
    """HTTP's status, and why; nothing of it is a secret."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    wbufsize = -1

    def answer(self) -> bytes:
        """Metrics as text. Raises Unanswered."""
        raise NotImplementedError

    def do_GET(self) -> None:
        try:
            status, kind, body = http.client.OK, "text/plain; version=0.0.4", self.answer()
        except Unanswered as error:
            status, kind, body = error.status, "text/plain", f"{error}\n".encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """`shown` is the path of its certificate and key, less the suffix. `friends` is a file with the authority whose
    certificates alone may ask; without one nobody needs any.
    """

    daemon_threads = True

    def __init__(self, port: int, handler: type[Handler], shown: str, friends: str = "") -> None:
        self.shown, self.friends = shown, friends
        self.read: tuple[tuple[Path, int], ...] = ()
        super().__init__(("", port), handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        """The handshake belongs to the call's own thread, and a renewed certificate counts from the next call on."""
        names = (f"{self.shown}.crt", f"{self.shown}.key", *([self.friends] if self.friends else []))
        if self.read != (now := tuple((file := Path(name).resolve(), file.stat().st_mtime_ns) for name in names)):
            self.context, self.read = self._context(), now
        line, address = super().get_request()
        line.settimeout(IDLE_SECONDS)
        return self.context.wrap_socket(line, server_side=True, do_handshake_on_connect=False), address

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(f"{self.shown}.crt", f"{self.shown}.key")
        if self.friends:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.friends)
        return context

    def handle_error(self, *_: object) -> None:
        """A line that broke: whoever asked asks again."""

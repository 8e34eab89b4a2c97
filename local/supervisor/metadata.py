"""Instance metadata for each machine by its address. Each cloud's own says what its machines are answered."""

import http.server
import socket
import socketserver
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

ADDRESS, PORT = "169.254.169.254", 80
IP_FREEBIND = 15
NONE: Mapping[str, str] = MappingProxyType({})
Find = Callable[[str], dict[str, Any] | None]


class Service(Protocol):
    """One cloud's."""

    def serve(self, handler: "Handler", machine: dict[str, Any]) -> None:
        """Answers a call of a machine's."""


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Answers at the metadata's address, which need not be there yet. `services` are by the cloud's name."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, find: Find, services: Mapping[str, Service]) -> None:
        self.find, self.services = find, services
        super().__init__((ADDRESS, PORT), Handler)

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_IP, IP_FREEBIND, 1)
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, PORT


class Handler(http.server.BaseHTTPRequestHandler):
    """One call."""

    server: Server
    server_version, sys_version = "EC2ws", ""
    timeout = 20

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Not a line a call."""

    def serve(self) -> None:
        found = self.server.find(self.client_address[0])
        if found is None:
            return self.say(404, f"No instance has the address {self.client_address[0]}")
        return self.server.services[found["cloud"]].serve(self, found)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def say(self, status: int, text: str = "", kind: str = "text/plain", headers: Mapping[str, str] = NONE) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self) -> None:
        self.serve()

    def do_HEAD(self) -> None:
        self.serve()

    def do_PUT(self) -> None:
        self.serve()

    def do_POST(self) -> None:
        self.serve()

    def do_DELETE(self) -> None:
        self.serve()

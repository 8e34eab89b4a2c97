"""The pages over HTTP, on this computer's loopback alone. Nothing can be changed through them."""

import contextlib
import http.server
import os
import socket
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

from landbridge.errors import LandbridgeError, UsageError
from landbridge.output import written

from .detail import node, run
from .front import front
from .page import POLICY
from .snapshot import Snapshot

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")
# What was asked is good for so long: many tabs are as dear as one.
SECONDS = 5.0
# Inside the local cloud a loopback is another one, which no browser reaches. A socket stays where it was made, so it is
# made first, and this says which it is.
SOCKET = "LANDBRIDGE_DASHBOARD_SOCKET"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Newest:
    """One answer for all who ask at the same time, and for a while after."""

    def __init__(self, ask: Callable[[], Snapshot], seconds: float = SECONDS) -> None:
        self._ask, self._seconds, self._lock = ask, seconds, threading.Lock()
        self._kept: tuple[float, Snapshot] | None = None

    def get(self) -> Snapshot:
        with self._lock:
            if self._kept is None or time.monotonic() - self._kept[0] > self._seconds:
                found = self._ask()
                self._kept = time.monotonic(), found
            return self._kept[1]


def listening(port: int) -> socket.socket:
    """Raises UsageError for a port that is taken."""
    with contextlib.suppress(ValueError, OSError):
        return socket.socket(fileno=int(os.environ.pop(SOCKET, "")))
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HERE, port))
    except OSError as error:
        made.close()
        raise UsageError(
            f"--port {port}: {(error.strerror or str(error)).lower()}. Name another one, or none for a free one."
        ) from None
    made.listen(64)
    made.set_inheritable(True)
    os.environ[SOCKET] = str(made.fileno())
    return made


class Server(http.server.ThreadingHTTPServer):
    """Answers on a socket that listens."""

    def __init__(self, listens: socket.socket, newest: Newest) -> None:
        super().__init__(listens.getsockname(), Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.newest = listens, newest
        self.server_address = listens.getsockname()
        port = self.server_address[1]
        self.hosts = {f"{name}:{port}" for name in NAMES} | ({*NAMES} if port == 80 else set())

    @property
    def url(self) -> str:
        return f"http://{HERE}:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is none of anybody's concern."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One call."""

    server: Server
    server_version, sys_version = "landbridge", ""
    timeout = 20

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Not a line a call."""

    def do_GET(self) -> None:
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            # A page of elsewhere whose name was made to lead here must not read what is shown.
            return self.say(HTTPStatus.MISDIRECTED_REQUEST, f"This page is at {self.server.url} alone.\n")
        path = [unquote(part) for part in urlsplit(self.path).path.split("/")[1:]]
        try:
            kind, body = self.made(path)
        except LandbridgeError as error:
            return self.say(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n")
        except Exception as error:  # the last resort: our own mistake, told in one line
            told = f"A mistake in landbridge: {type(error).__name__}: {error}\n"
            return self.say(HTTPStatus.INTERNAL_SERVER_ERROR, told)
        if body is None:
            return self.say(HTTPStatus.NOT_FOUND, f"Nothing of that name is there now. {self.server.url} has all.\n")
        return self.say(HTTPStatus.OK, body, kind)

    def made(self, path: list[str]) -> tuple[str, str | None]:
        """Its kind and itself; None where nothing is."""
        page = "text/html"
        match path:
            case [""]:
                return page, front(self.server.newest.get())
            case ["runs", space, name]:
                return page, run(self.server.newest.get(), space, name)
            case ["nodes", name]:
                return page, node(self.server.newest.get(), name)
            case ["api", "snapshot.json"]:
                return "application/json", written(self.server.newest.get().as_json())
        return page, None

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Whatever else is asked for."""
        if name.startswith("do_"):
            return self.refuse
        raise AttributeError(name)

    def refuse(self) -> None:
        self.close_connection = True
        self.say(HTTPStatus.METHOD_NOT_ALLOWED, "These pages are for reading.\n", Allow="GET")

    def say(self, status: HTTPStatus, text: str, kind: str = "text/plain", **headers: str) -> None:
        body = text.encode()
        self.send_response(status)
        more = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in {**HEADERS, **more, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

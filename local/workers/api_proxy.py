"""kwok's way to the API server: a port of the loopback, behind which its calls go out as the node's own.

kwok asks one thing that no kubelet may: all nodes, once, to see whether the server is there. That one is narrowed to
the node. Pods that the kubelet runs itself are left out of what it is told, lists and watches alike: it never hears of
one. All else passes as it is, and the API server decides; so kwok has no certificate, and renewals don't touch it.
"""

import contextlib
import http.client
import http.server
import json
import secrets
import socket
import threading
from urllib.parse import parse_qs, urlencode, urlsplit

from kube_http import WATCH_SECONDS, Kube

from . import images
from .unit import say

NODES, PODS, NARROW = "/api/v1/nodes", "/api/v1/pods", "fieldSelector"
# Without these the server might answer in Protobuf, or compressed.
READABLE = {"Accept": "application/json", "Accept-Encoding": "identity"}
HOP_BY_HOP = {"connection", "host", "keep-alive", "transfer-encoding", "content-length"}
CHUNK = 65_536
# A line whose API machine is gone is dead after 45 s, as a kubelet's is: client-go asks after 30 s, and waits 15.
ALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
)


class ApiProxy(http.server.ThreadingHTTPServer):
    """Open while the program runs. `address` has a secret in it: other programs of the machine do not pass."""

    daemon_threads = True

    def __init__(self, api: Kube, node: str) -> None:
        self.api, self.node, self.secret = api, node, f"/{secrets.token_urlsafe(24)}"
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.secret}"

    def narrowed(self, path: str) -> str:
        url = urlsplit(path)
        query = parse_qs(url.query)
        if url.path != NODES or NARROW in query:
            return path
        return f"{NODES}?{urlencode({**query, NARROW: f'metadata.name={self.node}'}, doseq=True)}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: ApiProxy
    # Whether the call is about pods, of which kwok must not see all.
    pods = False
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Not a line a call."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.startswith(f"{self.server.secret}/"):
            return self.send_error(404)
        path = self.server.narrowed(self.path.removeprefix(self.server.secret))
        watch = "watch" in parse_qs(urlsplit(path).query)
        passed = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        self.pods = self.command == "GET" and lists_pods(path)
        if self.pods:
            own = {name.lower() for name in READABLE}
            passed = {**{name: value for name, value in passed.items() if name.lower() not in own}, **READABLE}
        try:
            self.stream(path, passed) if watch else self.whole(path, body, passed)
        except (OSError, http.client.HTTPException) as error:
            # kwok asks again: it may not have been heard at all.
            say(f"{self.command} {path}: {error}")
            self.close_connection = True
        return None

    def __getattr__(self, name: str) -> object:
        if name.startswith("do_"):
            return self.do_GET
        raise AttributeError(name)

    def head(self, path: str, answer: http.client.HTTPResponse) -> None:
        if answer.status == http.client.FORBIDDEN:
            say(f"kwok is not allowed: {self.command} {path}")
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in (*HOP_BY_HOP, "date", "server"):
                self.send_header(name, value)

    def whole(self, path: str, body: bytes, passed: dict[str, str]) -> None:
        # Whatever kwok writes may be written twice.
        answer, data = self.server.api.call(self.command, path, body or None, passed)
        if self.pods and answer.status == http.client.OK:
            data = played(data)
        self.head(path, answer)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, path: str, passed: dict[str, str]) -> None:
        """As it comes, until it ends."""
        line = self.server.api.connect(2 * WATCH_SECONDS)
        with contextlib.closing(line):
            line.connect()
            for level, option, value in ALIVE:
                line.sock.setsockopt(level, option, value)
            line.request(self.command, path, None, {**passed, **self.server.api.headers()})
            answer = line.getresponse()
            self.head(path, answer)
            self.send_header("Connection", "close")
            self.end_headers()
            pods = self.pods and answer.status == http.client.OK
            while data := answer.readline() if pods else answer.read1(CHUNK):
                if not (pods and of_ours(data)):
                    self.wfile.write(data)
                    self.wfile.flush()


def lists_pods(path: str) -> bool:
    """Whether the answer has pods, one or many, in a list or a watch."""
    parts = urlsplit(path).path.split("/")
    return parts[:3] == PODS.split("/")[:3] and "pods" in (parts[3:4] or [""]) + parts[5:6]


def played(data: bytes) -> bytes:
    """A list, without the pods that kwok must not play."""
    listed = json.loads(data)
    if not any(images.real(pod) for pod in listed.get("items") or []):
        return data
    return json.dumps({**listed, "items": [pod for pod in listed["items"] if not images.real(pod)]}).encode()


def of_ours(line: bytes) -> bool:
    """Whether a line of a watch tells of a pod that kwok must not play. Bookmarks and errors are for it."""
    event = json.loads(line)
    return event["type"] in ("ADDED", "MODIFIED", "DELETED") and images.real(event["object"])

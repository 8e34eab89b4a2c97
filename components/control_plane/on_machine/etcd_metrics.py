"""Passes on what each member of etcd tells of itself, to whoever the API says may have metrics.

GET /RING/MEMBER by TLS, with a bearer token of the cluster. A member tells that only to a certificate that opens all it
has, which should be on no other machine than these.
"""

import hashlib
import http.client
import http.server
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from machine import say, settings

from kube_http import Answer, Json, Kube

PORT, API = 10261, "https://127.0.0.1:6443"
PKI = "/etc/kubernetes/pki"
# The scheduler has to ask the same two questions about those who want its own metrics, and may.
ASKING, SERVING, READING = f"{PKI}/scheduler", f"{PKI}/apiserver", f"{PKI}/etcd-client"
AUTHORITY, MEMBERS_AUTHORITY = f"{PKI}/ca.crt", f"{PKI}/etcd-clients-ca.crt"
RIGHT = {"path": "/metrics", "verb": "get"}
REVIEWS = "/apis/{0}.k8s.io/v1/{1}"
MEMBER_SECONDS, REVIEW_SECONDS, IDLE_SECONDS = 5.0, 10.0, 90.0
KEPT_SECONDS, MAX_KEPT, AT_ONCE = 60.0, 1024, 8
MOST_BYTES = 8 << 20


class Unanswered(Exception):
    """HTTP's status, and why; nothing of it is a secret."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Guard:
    """Whose a token is and whether they may: the API's own answers, each kept for a minute."""

    def __init__(self, kube: Kube) -> None:
        self.kube, self.lock, self.kept = kube, threading.Lock(), dict[bytes, tuple[float, int]]()

    def check(self, token: str) -> None:
        """Raises Unanswered unless it is somebody's who may."""
        key, now = hashlib.sha256(token.encode()).digest(), time.monotonic()
        until, status = self.kept.get(key, (0.0, 0))
        if until <= now:
            status = self._ask(token)
            with self.lock:
                if len(self.kept) >= MAX_KEPT:
                    self.kept = {name: one for name, one in self.kept.items() if one[0] > now}
                if len(self.kept) < MAX_KEPT:
                    self.kept[key] = (now + KEPT_SECONDS, status)
        if status != http.client.OK:
            raise Unanswered(status, http.client.responses[status])

    def _ask(self, token: str) -> int:
        told = self._review("authentication", "tokenreviews", "TokenReview", {"token": token})
        if not told.get("authenticated"):
            return http.client.UNAUTHORIZED
        user = told["user"]
        asked: Json = {"user": user["username"], "groups": user.get("groups", []), "nonResourceAttributes": RIGHT}
        allowed = self._review("authorization", "subjectaccessreviews", "SubjectAccessReview", asked).get("allowed")
        return http.client.OK if allowed else http.client.FORBIDDEN

    def _review(self, group: str, plural: str, kind: str, spec: Json) -> Json:
        body = {"apiVersion": f"{group}.k8s.io/v1", "kind": kind, "spec": spec}
        try:
            status: Json = self.kube.ask("POST", REVIEWS.format(group, plural), body)["status"]
        except (Answer, OSError, http.client.HTTPException) as error:
            raise Unanswered(http.client.SERVICE_UNAVAILABLE, f"the API says nothing of a token: {error}") from error
        return status


def told_by(url: str) -> bytes:
    """A member's metrics. Raises Unanswered."""
    place, context = urlsplit(url), ssl.create_default_context(cafile=MEMBERS_AUTHORITY)
    context.load_cert_chain(f"{READING}.crt", f"{READING}.key")
    line = http.client.HTTPSConnection(place.hostname or "", place.port, timeout=MEMBER_SECONDS, context=context)
    try:
        line.request("GET", "/metrics")
        answer = line.getresponse()
        text = answer.read(MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise Unanswered(http.client.BAD_GATEWAY, f"{url} does not answer: {error}") from error
    finally:
        line.close()
    if answer.status != http.client.OK:
        raise Unanswered(http.client.BAD_GATEWAY, f"{url} answers with {answer.status}")
    return text


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    wbufsize = -1
    guard: Guard
    members: dict[str, str]
    in_flight = threading.BoundedSemaphore(AT_ONCE)

    def do_GET(self) -> None:
        try:
            status, kind, body = http.client.OK, "text/plain; version=0.0.4", self._answer()
        except Unanswered as error:
            status, kind, body = error.status, "text/plain", f"{error}\n".encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self) -> bytes:
        way, _, token = self.headers.get("authorization", "").partition(" ")
        if way.lower() != "bearer" or not token:
            raise Unanswered(http.client.UNAUTHORIZED, "a bearer token is needed")
        if not self.in_flight.acquire(blocking=False):
            raise Unanswered(http.client.TOO_MANY_REQUESTS, f"{AT_ONCE} questions wait for their answers")
        try:
            self.guard.check(token)
            if not (url := self.members.get(self.path.strip("/"))):
                raise Unanswered(http.client.NOT_FOUND, f"members are {', '.join(sorted(self.members))}")
            return told_by(url)
        finally:
            self.in_flight.release()

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    pair: tuple[Path, ...] = ()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def get_request(self) -> tuple[socket.socket, Any]:
        """The handshake belongs to the call's own thread, and a renewed certificate counts from the next call on."""
        if self.pair != (now := (Path(f"{SERVING}.crt").resolve(), Path(f"{SERVING}.key").resolve())):
            self.context.minimum_version = ssl.TLSVersion.TLSv1_2
            self.context.load_cert_chain(now[0], now[1])
            self.pair = now
        line, address = super().get_request()
        line.settimeout(IDLE_SECONDS)
        return self.context.wrap_socket(line, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *_: object) -> None:
        """A line that broke: whoever asked asks again."""


def main() -> None:
    members: Any = settings("etcd-metrics")["members"]
    guard = Guard(Kube(API, AUTHORITY, pair=(f"{ASKING}.crt", f"{ASKING}.key"), seconds=REVIEW_SECONDS))
    bound = type("Bound", (Handler,), {"guard": guard, "members": members})
    say(f"passes on what {len(members)} members of etcd tell")
    Server(("", PORT), bound).serve_forever()


if __name__ == "__main__":
    main()

"""Passes on what etcd and its machines tell of themselves, and this one, to whoever the API says may have metrics.

GET /RING/MEMBER or /machines/MACHINE by TLS, with a bearer token of the cluster. A member tells that only to a
certificate that opens all it has, which should be on no other machine than these.
"""

import hashlib
import http.client
import ssl
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import machine_metrics
from machine import say, settings
from tls_server import Handler, Server, Unanswered

from kube_http import Answer, Json, Kube

PORT, API = 10261, "https://127.0.0.1:6443"
PKI = "/etc/kubernetes/pki"
# The scheduler has to ask the same two questions about those who want its own metrics, and may.
ASKING, SERVING, READING = f"{PKI}/scheduler", f"{PKI}/apiserver", f"{PKI}/etcd-client"
AUTHORITY, MEMBERS_AUTHORITY = f"{PKI}/ca.crt", f"{PKI}/etcd-clients-ca.crt"
RIGHT = {"path": "/metrics", "verb": "get"}
REVIEWS = "/apis/{0}.k8s.io/v1/{1}"
MEMBER_SECONDS, REVIEW_SECONDS = 5.0, 10.0
KEPT_SECONDS, MAX_KEPT, AT_ONCE = 60.0, 1024, 8
MOST_BYTES = 8 << 20


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
    """A member's metrics, or its machine's. Raises Unanswered."""
    place, context = urlsplit(url), ssl.create_default_context(cafile=MEMBERS_AUTHORITY)
    context.load_cert_chain(f"{READING}.crt", f"{READING}.key")
    line = http.client.HTTPSConnection(place.hostname or "", place.port, timeout=MEMBER_SECONDS, context=context)
    try:
        line.request("GET", place.path)
        answer = line.getresponse()
        text = answer.read(MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise Unanswered(http.client.BAD_GATEWAY, f"{url} does not answer: {error}") from error
    finally:
        line.close()
    if answer.status != http.client.OK:
        raise Unanswered(http.client.BAD_GATEWAY, f"{url} answers with {answer.status}")
    return text


class Passing(Handler):
    """`own` is the path of what this machine tells of itself."""

    guard: Guard
    passed: dict[str, str]
    own: str
    in_flight = threading.BoundedSemaphore(AT_ONCE)

    def answer(self) -> bytes:
        way, _, token = self.headers.get("authorization", "").partition(" ")
        if way.lower() != "bearer" or not token:
            raise Unanswered(http.client.UNAUTHORIZED, "a bearer token is needed")
        if not self.in_flight.acquire(blocking=False):
            raise Unanswered(http.client.TOO_MANY_REQUESTS, f"{AT_ONCE} questions wait for their answers")
        try:
            self.guard.check(token)
            return self._of(self.path.strip("/"))
        finally:
            self.in_flight.release()

    def _of(self, path: str) -> bytes:
        if path == self.own:
            return machine_metrics.text().encode()
        if not (url := self.passed.get(path)):
            raise Unanswered(http.client.NOT_FOUND, f"there are {', '.join(sorted([self.own, *self.passed]))}")
        return told_by(url)


def main() -> None:
    told: Any = settings("etcd-metrics")
    guard = Guard(Kube(API, AUTHORITY, pair=(f"{ASKING}.crt", f"{ASKING}.key"), seconds=REVIEW_SECONDS))
    bound = type("Bound", (Passing,), {"guard": guard, "passed": told["passed"], "own": told["own"]})
    say(f"passes on what {len(told['passed'])} members of etcd and their machines tell")
    Server(PORT, bound, SERVING).serve_forever()


if __name__ == "__main__":
    main()

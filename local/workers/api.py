"""The Kubernetes API for a local machine's kubelet, by token or by the certificate that it has just now."""

import http.client
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

Json = dict[str, Any]
Line = tuple[http.client.HTTPSConnection, dict[str, str]]
SECONDS, WATCH_SECONDS = 30.0, 300
MOST_WAITING = 4
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"


class Refused(Exception):
    """The server answered, and it was no; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Api:
    """Lines stay open between calls, for as long as the certificate is the same; a call has one to itself.

    `token` is asked for at each new line; `pair` is a file with certificate and key, if there is one.
    """

    def __init__(
        self, server: str, authority: str, *, token: Callable[[], str] | None = None, pair: Path | None = None
    ) -> None:
        self.server, self.authority, self.token, self.pair = server, authority, token, pair
        self.lock = threading.Lock()
        self.which: Path | None = None  # the certificate of `context` and of the lines that wait
        self.context: ssl.SSLContext | None = None
        self.waiting: list[Line] = []

    def trust(self) -> ssl.SSLContext:
        """With the certificate that is current; lines of an earlier one are closed."""
        which = self.pair.resolve() if self.pair else None
        with self.lock:
            if self.context is None or which != self.which:
                made = ssl.create_default_context(cafile=self.authority)
                if which:
                    made.load_cert_chain(which)
                left, self.waiting = self.waiting, []
                for one, _ in left:
                    one.close()
                self.context, self.which = made, which
            return self.context

    def connect(self, seconds: float) -> Line:
        """A new line, and the headers of each call on it."""
        place, context = urlsplit(self.server), self.trust()
        headers = {"Authorization": f"Bearer {self.token()}"} if self.token else {}
        return http.client.HTTPSConnection(place.hostname or "", place.port, timeout=seconds, context=context), headers

    def call(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Raises OSError or HTTPException if nobody answered; then it may have been done or not."""
        while True:
            context = self.trust()
            with self.lock:
                kept = self.waiting.pop() if self.waiting else None
            line, own = kept or self.connect(SECONDS)
            try:
                line.request(method, path, data, {**headers, **own})
                answer = line.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException):
                line.close()
                # The server may have closed a line that was kept; a fresh one tells what it is.
                if kept is None:
                    raise
                continue
            with self.lock:
                if keep := context is self.context and len(self.waiting) < MOST_WAITING:
                    self.waiting.append((line, own))
            if not keep:
                line.close()
            return answer, text

    def ask(self, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> Json:
        """Raises Refused, or OSError if nobody answered; then it may have been done or not."""
        data = None if body is None else json.dumps(body).encode()
        try:
            answer, text = self.call(method, path, data, {"Content-Type": kind})
        except (OSError, http.client.HTTPException) as error:
            raise OSError(f"{method} {path}: {error}") from None
        if answer.status >= 300:
            raise Refused(answer.status, f"{method} {path}: {answer.status} {message(text)}")
        found: Json = json.loads(text)
        return found

    def watch(self, path: str, version: str, **query: str) -> Iterator[tuple[str, Json]]:
        """Type and object of each change, until the server ends it. Raises Refused (410: list again), OSError."""
        asked = {**query, "watch": "1", "resourceVersion": version, "timeoutSeconds": str(WATCH_SECONDS)}
        line, headers = self.connect(WATCH_SECONDS + SECONDS)
        try:
            line.request("GET", f"{path}?{urlencode(asked)}", headers=headers)
            answer = line.getresponse()
            if answer.status >= 300:
                raise Refused(answer.status, f"watch {path}: {answer.status} {message(answer.read())}")
            while text := answer.readline():
                change = json.loads(text)
                if change["type"] == "ERROR":
                    raise Refused(int(change["object"].get("code") or 500), f"watch {path}: {change['object']}")
                yield change["type"], change["object"]
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(f"watch {path}: {error}") from None
        finally:
            line.close()


def message(text: bytes) -> str:
    try:
        return str(json.loads(text)["message"])[:500]
    except (KeyError, TypeError, ValueError):
        return ascii(text[:200].decode(errors="replace"))

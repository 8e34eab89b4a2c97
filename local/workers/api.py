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
SECONDS, WATCH_SECONDS = 30.0, 300
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"


class Refused(Exception):
    """The server answered, and it was no; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Api:
    """A line for each thread, kept open as long as the certificate is the same.

    `token` is asked for at each new line; `pair` is a file with certificate and key, if there is one.
    """

    def __init__(
        self, server: str, authority: str, *, token: Callable[[], str] | None = None, pair: Path | None = None
    ) -> None:
        self.server, self.authority, self.token, self.pair = server, authority, token, pair
        self.lines = threading.local()

    def connect(self, seconds: float) -> tuple[http.client.HTTPSConnection, dict[str, str]]:
        """A new line, and the headers of each call on it."""
        place = urlsplit(self.server)
        context = ssl.create_default_context(cafile=self.authority)
        if self.pair:
            context.load_cert_chain(self.pair)
        headers = {"Authorization": f"Bearer {self.token()}"} if self.token else {}
        line = http.client.HTTPSConnection(place.hostname or "", place.port, timeout=seconds, context=context)
        return line, headers

    def kept(self) -> tuple[http.client.HTTPSConnection, dict[str, str], bool]:
        """The line of this thread, and whether it is new."""
        which = self.pair.resolve() if self.pair else None
        if getattr(self.lines, "kept", None) and self.lines.which == which:
            return *self.lines.kept, False
        self.drop()
        self.lines.kept, self.lines.which = self.connect(SECONDS), which
        return *self.lines.kept, True

    def drop(self) -> None:
        if getattr(self.lines, "kept", None):
            self.lines.kept[0].close()
        self.lines.kept = None

    def ask(self, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> Json:
        """Raises Refused, or OSError if nobody answered; then it may have been done or not."""
        data = None if body is None else json.dumps(body).encode()
        while True:
            line, headers, fresh = self.kept()
            try:
                line.request(method, path, data, {**headers, "Content-Type": kind})
                answer = line.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.drop()
                # The server may have closed a line that was kept; a fresh one tells what it is.
                if fresh:
                    raise OSError(f"{method} {path}: {error}") from None
                continue
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

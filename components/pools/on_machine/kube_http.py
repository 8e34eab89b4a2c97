"""The Kubernetes API for this machine's scripts: by client certificate, to the machine's own server."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlencode

from machine import say

Json = dict[str, Any]
Item = TypeVar("Item")
SECONDS, PAGE = 20.0, 500
# A watch ends by itself and is begun again; bookmarks come each minute, so a line that is silent for longer is dead.
WATCH_SECONDS, SILENT_SECONDS = 600, 150.0
MERGE = "application/merge-patch+json"
FIRST_PAUSE, MOST_PAUSE, SHORT_SECONDS = 0.5, 15.0, 1.0


class Answer(Exception):
    """The server answered, and it was no; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Kube:
    """A line for each thread, kept open."""

    def __init__(
        self, address: str, port: int, authority: str, certificate: str, key: str, *, seconds: float = SECONDS
    ) -> None:
        self.address, self.port, self.seconds = address, port, seconds
        self.files = (authority, certificate, key)
        self.lines = threading.local()

    def connect(self, seconds: float) -> http.client.HTTPSConnection:
        """The files are read each time: a renewed certificate counts from the next line on."""
        authority, certificate, key = self.files
        context = ssl.create_default_context(cafile=authority)
        context.load_cert_chain(certificate, key)
        return http.client.HTTPSConnection(self.address, self.port, timeout=seconds, context=context)

    def ask(self, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> Json:
        """Raises Answer, or OSError if nobody answered; then it may have been done or not."""
        data = None if body is None else json.dumps(body).encode()
        fresh = False
        while True:
            line: http.client.HTTPSConnection | None = getattr(self.lines, "line", None)
            if line is None:
                line, fresh = self.connect(self.seconds), True
                self.lines.line = line
            try:
                line.request(method, path, data, {"Content-Type": kind} if data else {})
                answer = line.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                line.close()
                self.lines.line = None
                # The server may have closed a line that was kept; a fresh one tells what it is.
                if not fresh and isinstance(error, http.client.RemoteDisconnected | BrokenPipeError | ssl.SSLEOFError):
                    continue
                raise OSError(f"{method} {path}: {error}") from None
            if answer.status >= 300:
                raise Answer(answer.status, f"{method} {path}: {answer.status} {_message(text)}")
            found: Json = json.loads(text)
            return found

    def list(self, path: str, keep: Callable[[Json], Item | None]) -> tuple[list[Item], str]:
        """What `keep` makes of all objects, less None, and the version from which to watch."""
        kept: list[Item] = []
        query = {"limit": str(PAGE)}
        while True:
            page = self.ask("GET", f"{path}?{urlencode(query)}")
            kept += [one for thing in page.get("items") or [] if (one := keep(thing)) is not None]
            if not (more := page["metadata"].get("continue")):
                return kept, page["metadata"]["resourceVersion"]
            query["continue"] = more

    def watch(self, path: str, version: str) -> Iterator[tuple[str, Json]]:
        """Type and object of each change. Raises Answer (410: list again), OSError. Ends when the server ends it."""
        line = self.connect(SILENT_SECONDS)
        query = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true"}
        try:
            line.request("GET", f"{path}?{urlencode({**query, 'timeoutSeconds': str(WATCH_SECONDS)})}")
            answer = line.getresponse()
            if answer.status != 200:
                raise Answer(answer.status, f"watch {path}: {answer.status} {_message(answer.read())}")
            while text := answer.readline():
                change = json.loads(text)
                if change["type"] == "ERROR":
                    told = change["object"]
                    raise Answer(int(told.get("code") or 500), f"watch {path}: {told.get('message')}")
                yield change["type"], change["object"]
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(f"watch {path}: {error}") from None
        finally:
            line.close()


def _message(text: bytes) -> str:
    try:
        return str(json.loads(text)["message"])[:500]
    except (KeyError, TypeError, ValueError):
        return ascii(text[:200].decode(errors="replace"))


def follow(
    kube: Kube,
    path: str,
    keep: Callable[[Json], Item | None],
    listed: Callable[[list[Item]], None],
    changed: Callable[[str, Json], None],
) -> None:
    """For ever: `listed` gets what `keep` makes of everything, `changed` each change since; and again after breaks."""
    pause, version = FIRST_PAUSE, ""
    while True:
        why, began = "it ended at once", time.monotonic()
        try:
            if not version:
                items, version = kube.list(path, keep)
                listed(items)
            for kind, thing in kube.watch(path, version):
                version, pause = thing["metadata"]["resourceVersion"], FIRST_PAUSE
                if kind != "BOOKMARK":
                    changed(kind, thing)
            if time.monotonic() - began > SHORT_SECONDS:
                continue
        except Answer as answer:
            why = str(answer)
            if answer.status == 410:
                version = ""
        except OSError as error:
            why = str(error)
        say(f"watches {path} again in {pause:g} s: {why}")
        time.sleep(pause)
        pause = min(2 * pause, MOST_PAUSE)

"""The Kubernetes API, for scripts of API machines, the autoscaler's cloud side and local machines' kubelets.

Only Python's standard library, and nothing of ours: machines get this file as it is.
"""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

Json = dict[str, Any]
Item = TypeVar("Item")
SECONDS, PAGE, MOST_WAITING = 30.0, 500, 8
WATCH_SECONDS = 300
# Whoever follows has bookmarks each minute, so a line that is silent for longer is dead.
FOLLOW_SECONDS, SILENT_SECONDS = 600, 150.0
EVERYTHING: Mapping[str, str] = {}
BOOKMARKS = {"allowWatchBookmarks": "true"}
JSON, MERGE, STRATEGIC = "application/json", "application/merge-patch+json", "application/strategic-merge-patch+json"
FIRST_PAUSE, MOST_PAUSE, SHORT_SECONDS = 0.5, 15.0, 1.0
# How a line ends that the server has closed meanwhile.
CLOSED = (http.client.RemoteDisconnected, BrokenPipeError, ssl.SSLEOFError)


class Answer(Exception):
    """The server answered, and it was no; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Kube:
    """Lines stay open between calls, `most_waiting` of them, for as long as the certificate is the same.

    `pair` are the files of certificate and key, or one with both; `token` is asked for at each call. `again` are the
    errors of a kept line after which a call is made on a fresh one: what it asks for may have been done by then.
    """

    def __init__(
        self,
        server: str,
        authority: str,
        *,
        pair: tuple[str | Path, ...] = (),
        token: Callable[[], str] | None = None,
        seconds: float = SECONDS,
        most_waiting: int = MOST_WAITING,
        again: tuple[type[Exception], ...] = CLOSED,
    ) -> None:
        self.server, self.authority, self.pair, self.token = server, authority, pair, token
        self.seconds, self.most_waiting, self.again = seconds, most_waiting, again
        self.lock = threading.Lock()
        self.which: tuple[Path, ...] = ()  # the certificate of the lines that wait
        self.waiting: list[http.client.HTTPSConnection] = []

    def current(self) -> tuple[Path, ...]:
        """The files of the pair just now, behind links."""
        return tuple(Path(one).resolve() for one in self.pair)

    def connect(self, seconds: float) -> http.client.HTTPSConnection:
        """The files are read each time: a renewed certificate counts from the next line on."""
        place, context = urlsplit(self.server), ssl.create_default_context(cafile=self.authority)
        if which := self.current():
            context.load_cert_chain(which[0], which[-1])
        return http.client.HTTPSConnection(place.hostname or "", place.port, timeout=seconds, context=context)

    def headers(self) -> dict[str, str]:
        """Of each call."""
        return {"Authorization": f"Bearer {self.token()}"} if self.token else {}

    def call(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Any answer. Raises OSError or HTTPException if nobody answered; then it may have been done or not."""
        while True:
            which = self.current()
            kept = self._take(which)
            line = kept or self.connect(self.seconds)
            try:
                line.request(method, path, data, {**headers, **self.headers()})
                answer = line.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                line.close()
                if kept and isinstance(error, self.again):
                    continue
                raise
            self._leave(which, line)
            return answer, text

    def _take(self, which: tuple[Path, ...]) -> http.client.HTTPSConnection | None:
        """Lines of an earlier certificate are closed."""
        with self.lock:
            if which != self.which:
                left, self.waiting, self.which = self.waiting, [], which
                for one in left:
                    one.close()
            return self.waiting.pop() if self.waiting else None

    def _leave(self, which: tuple[Path, ...], line: http.client.HTTPSConnection) -> None:
        with self.lock:
            if which == self.which and len(self.waiting) < self.most_waiting:
                self.waiting.append(line)
                return
        line.close()

    def ask(self, method: str, path: str, body: Json | None = None, kind: str = JSON, accept: str = JSON) -> Json:
        """Raises Answer, or OSError if nobody answered; then it may have been done or not."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": accept, **({"Content-Type": kind} if data else {})}
        try:
            answer, text = self.call(method, path, data, headers)
        except (OSError, http.client.HTTPException) as error:
            raise OSError(f"{method} {path}: {error}") from None
        if answer.status >= 300:
            raise Answer(answer.status, f"{method} {path}: {answer.status} {_message(text)}")
        found: Json = json.loads(text)
        return found

    def find(self, path: str) -> Json | None:
        """None for what is not there. Raises Answer, OSError."""
        try:
            return self.ask("GET", path)
        except Answer as answer:
            if answer.status == 404:
                return None
            raise

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

    def watch(
        self,
        path: str,
        version: str,
        query: Mapping[str, str] = EVERYTHING,
        seconds: int = WATCH_SECONDS,
        silent: float | None = None,
    ) -> Iterator[tuple[str, Json]]:
        """Type and object of each change, until the server ends it, after so many seconds at the latest.

        Raises Answer (410: list again), and OSError, also for a line that is `silent` for so long.
        """
        asked = {**query, "watch": "1", "resourceVersion": version, "timeoutSeconds": str(seconds)}
        line = self.connect(silent or seconds + self.seconds)
        try:
            line.request("GET", f"{path}?{urlencode(asked)}", headers=self.headers())
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
    say: Callable[[str], None],
) -> None:
    """For ever: `listed` gets what `keep` makes of everything, `changed` each change since; and again after breaks."""
    pause, version = FIRST_PAUSE, ""
    while True:
        why, began = "it ended at once", time.monotonic()
        try:
            if not version:
                items, version = kube.list(path, keep)
                listed(items)
            for kind, thing in kube.watch(path, version, BOOKMARKS, FOLLOW_SECONDS, SILENT_SECONDS):
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

"""What the scripts of every machine need: settings, a journal, files on the disk, requests that are tried again.

Only Python's standard library: a control plane machine has nothing installed but its programs.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol
from urllib import error, request

CHUNK_BYTES = 1 << 20
SECONDS, TRIES = 60, 4
UNCHANGED = 304
EARLY_SECONDS = 300


def say(text: str) -> None:
    """A line in the unit's journal."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class Refused(Exception):
    """The cloud answered, and it was no; `status` is HTTP's, and so are `headers`."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.headers = status, headers or {}


class Body(Protocol):
    """What is sent: how long it is, its digest, and itself from the beginning, as often as it takes."""

    length: int

    def digest(self) -> str: ...

    def start(self) -> object: ...


class Text:
    def __init__(self, data: bytes) -> None:
        self.data, self.length = data, len(data)

    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def start(self) -> bytes | None:
        return self.data or None


class Slice:
    """A part of a file, never whole in memory."""

    def __init__(self, path: Path, offset: int, length: int) -> None:
        self.file, self.offset, self.length = path.open("rb"), offset, length
        self.left = 0

    def digest(self) -> str:
        self.start()
        found = hashlib.sha256()
        while chunk := self.read(CHUNK_BYTES):
            found.update(chunk)
        return found.hexdigest()

    def start(self) -> "Slice":
        self.file.seek(self.offset)
        self.left = self.length
        return self

    def read(self, most: int = CHUNK_BYTES) -> bytes:
        chunk = self.file.read(min(most, self.left))
        self.left -= len(chunk)
        return chunk


def patiently(once: Callable[[], bytes], again: Callable[[Refused], bool]) -> bytes:
    """Asks again when nobody answers, and where `again` says that this refusal may pass. Raises Refused or OSError."""
    for number in range(1, TRIES + 1):
        try:
            return once()
        except Refused as refused:
            if number == TRIES or not again(refused):
                raise
        except OSError:
            if number == TRIES:
                raise
        time.sleep(2.0**number / 2)
    raise AssertionError


def send(method: str, url: str, headers: Mapping[str, str], body: Body) -> tuple[bytes, dict[str, str]]:
    """One request: the answer's body and headers. Raises Refused or OSError."""
    wanted = request.Request(url, method=method, data=body.start(), headers=dict(headers))  # type: ignore[arg-type]
    # Without a length the library would send in chunks, which no store takes.
    wanted.add_header("Content-Length", str(body.length))
    try:
        with request.urlopen(wanted, timeout=SECONDS) as answer:
            data: bytes = answer.read()
            return data, dict(answer.headers)
    except error.HTTPError as problem:
        text = problem.read().decode(errors="replace")[:500]
        raise Refused(problem.code, f"{method} {url}: {problem.code} {text}", dict(problem.headers or {})) from None


def settings(name: str) -> dict[str, object]:
    """What the bundle tells the scripts."""
    told: dict[str, object] = json.loads(Path(f"/etc/landbridge/{name}.json").read_text())
    return told


def write(path: Path, text: str) -> None:
    """In one step, and on the disk before it counts."""
    draft = path.with_name(path.name + ".new")
    with draft.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def percentile(values: Iterable[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]

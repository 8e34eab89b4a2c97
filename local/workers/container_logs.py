"""What containers have printed, for those who ask: of which run, from which line on, and as it comes."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from . import log_lines
from .pod_container import PodContainer

CHUNK = 1 << 16
# Both streams are one here; the API server says so by itself.
BOTH = "All"


class NoLog(Exception):
    """There is nothing to be read. The text says why."""


class Wanted(NamedTuple):
    """The last `tail` lines of it, but not more than `limit` bytes; None is all. What is older than `since`, a stamp as
    log_lines has it, is left out.
    """

    follow: bool
    previous: bool
    tail: int | None
    limit: int | None
    stamps: bool = False
    since: bytes = b""


class Log(NamedTuple):
    """`file` is that of one run; `ended` says whether all of it is there."""

    file: Path
    ended: Callable[[], bool]


def wanted(query: Mapping[str, Sequence[str]]) -> Wanted:
    """PodLogOptions as a query has them. Raises ValueError."""
    known = {"follow", "previous", "tailLines", "limitBytes", "stream", "timestamps", "sinceSeconds", "sinceTime"}
    if unknown := set(query) - known:
        raise ValueError(f"local machines do not know {', '.join(sorted(unknown))}")
    if (stream := query.get("stream", [BOTH])[0]) != BOTH:
        raise ValueError(f"local machines keep both streams as one: there is no {stream} alone")
    lines, most = number(query, "tailLines"), number(query, "limitBytes")
    return Wanted(on(query, "follow"), on(query, "previous"), lines, most, on(query, "timestamps"), since(query))


def since(query: Mapping[str, Sequence[str]]) -> bytes:
    """Raises ValueError."""
    if (seconds := number(query, "sinceSeconds")) is not None:
        return log_lines.stamp(time.time_ns() - seconds * 10**9)
    if "sinceTime" not in query:
        return b""
    given = datetime.fromisoformat(query["sinceTime"][0])
    return log_lines.stamp(int(given.replace(tzinfo=given.tzinfo or UTC).timestamp()) * 10**9)


def on(query: Mapping[str, Sequence[str]], name: str) -> bool:
    """As the API reads it: what is given is true, but for two words."""
    return name in query and query[name][0].lower() not in ("false", "0")


def number(query: Mapping[str, Sequence[str]], name: str) -> int | None:
    if name not in query:
        return None
    if not query[name][0].isdecimal():
        raise ValueError(f"{name} is a number from 0 on, not {query[name][0]!r}")
    return int(query[name][0])


def find(folder: Path, pod: str, container: PodContainer, *, previous: bool) -> Log:
    """`folder` has those of the pod. Raises NoLog, in the real kubelet's words."""
    running, of = container.running, f'container "{container.name}" in pod "{pod}"'
    # One that waits for its next start has printed in the run before.
    run = container.restarts - (previous if running or container.over else 1)
    if run < 0 and not previous:
        told = container.state.get("waiting") or {}
        why = ": ".join(part for part in (told.get("reason"), told.get("message")) if part)
        raise NoLog(f"{of} is waiting to start: {why}")
    file = folder / container.name / f"{run}.log"
    if run < 0 or not file.exists():
        raise NoLog(f"{'previous terminated ' if previous else ''}{of} not found")
    # What has ended has said all: its output is kept before anybody hears of its end.
    return Log(file, lambda: previous or running is None or container.running is not running)


def read(log: Log, asked: Wanted, rest: Callable[[], bool]) -> Iterator[bytes]:
    """Piece by piece. `rest` waits a little for more of what is followed; False: nobody listens any more."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(one) for one in parts(log.file)]
        if asked.tail is not None:
            files = from_last(files, asked.tail)
        if asked.follow:
            chunks = followed(files, log, rest, stack)
        else:
            # No more than there is now, however fast more of it comes.
            now = sum(os.fstat(one.fileno()).st_size - one.tell() for one in files)
            chunks = limited(pieces(files), now)
        told = log_lines.printed(chunks, asked.since, stamps=asked.stamps)
        yield from told if asked.limit is None else limited(told, asked.limit)


def parts(file: Path) -> list[BinaryIO]:
    """The earlier part of a long one, if there is one, and the one that is written."""
    current = file.open("rb")
    try:
        older = file.with_name(f"{file.name}.1").open("rb")
    except FileNotFoundError:
        return [current]
    # They may have been changed over just now.
    return [current] if os.path.sameopenfile(older.fileno(), current.fileno()) else [older, current]


def pieces(files: Iterable[BinaryIO]) -> Iterator[bytes]:
    for file in files:
        while chunk := file.read(CHUNK):
            yield chunk


def followed(files: list[BinaryIO], log: Log, rest: Callable[[], bool], stack: contextlib.ExitStack) -> Iterator[bytes]:
    """Until it has ended and all is told."""
    while True:
        ended = log.ended()
        yield from pieces(files)
        if newer := successor(files[-1], log.file):
            # Something may have come before they were changed over.
            yield from pieces(files)
            files = [stack.enter_context(newer)]
        elif ended or not rest():
            return


def successor(file: BinaryIO, path: Path) -> BinaryIO | None:
    """The file that is written now, if `file` isn't it any more."""
    with contextlib.suppress(FileNotFoundError):
        if not os.path.samestat(path.stat(), os.fstat(file.fileno())):
            return path.open("rb")
    return None


def limited(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    for chunk in chunks if most else ():
        yield chunk[:most]
        most -= len(chunk)
        if most <= 0:
            return


def from_last(files: list[BinaryIO], lines: int) -> list[BinaryIO]:
    """Those with the last so many lines, set to where these begin."""
    for place in range(len(files) - 1, -1, -1):
        begin, lines = last_lines(files[place], lines)
        files[place].seek(begin)
        if lines == 0:
            return files[place:]
    return files


def last_lines(file: BinaryIO, lines: int) -> tuple[int, int]:
    """Where the last so many begin, and how many of them it lacks."""
    end = place = file.seek(0, os.SEEK_END)
    if lines == 0 or end == 0:
        return end, lines
    while place > 0:
        size = min(CHUNK, place)
        place -= size
        file.seek(place)
        block = file.read(size)
        # The very last byte ends the last line, and begins none.
        at = size - 1 if place + size == end else size
        while (at := block.rfind(b"\n", 0, at)) >= 0:
            lines -= 1
            if lines == 0:
                return place + at + 1, 0
    return 0, lines - 1

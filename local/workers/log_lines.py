"""What containers print as a container runtime keeps it: `TIME STREAM TAG TEXT`, a line each; and back to what it was.

Kubernetes' design proposal "CRI: Log Management for Container STDOUT/STDERR Streams". Whoever collects logs of machines
reads the same here as elsewhere.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

# Of a line that goes on in the next entry, and of one that ends.
PART, WHOLE = b"P", b"F"
# As containerd has it: max_container_log_line_size.
LONGEST = 16 << 10
# Both streams of a container are one on local machines.
STREAM = b"stdout"
# An entry's text begins after so many bytes.
BEFORE = len("2026-01-01T00:00:00.000000000Z stdout F ")


def stamp(nanoseconds: int) -> bytes:
    """Of Unix time. They compare as their times do."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z".encode()


def entries(text: bytes) -> tuple[bytes, bytes]:
    """What is kept of it now, and what waits for the rest of its line."""
    *lines, rest = text.split(b"\n")
    made = [entry for line in lines for entry in _of_line(line)]
    while len(rest) >= LONGEST:
        made.append(_entry(rest[:LONGEST], PART))
        rest = rest[LONGEST:]
    return b"".join(made), rest


def last(rest: bytes) -> bytes:
    """What is kept of a line that its container did not end."""
    return _entry(rest, PART) if rest else b""


def _of_line(line: bytes) -> Iterator[bytes]:
    while len(line) > LONGEST:
        yield _entry(line[:LONGEST], PART)
        line = line[LONGEST:]
    yield _entry(line, WHOLE)


def _entry(text: bytes, tag: bytes) -> bytes:
    return b"%s %s %s %s\n" % (stamp(time.time_ns()), STREAM, tag, text)


def printed(chunks: Iterable[bytes], since: bytes = b"", *, stamps: bool = False) -> Iterator[bytes]:
    """What containers printed, of entries in pieces: from a stamp on, and with stamps where they are wanted."""
    rest = b""
    for chunk in chunks:
        *found, rest = (rest + chunk).split(b"\n")
        if text := b"".join(_text(entry, stamps=stamps) for entry in found if entry >= since):
            yield text


def _text(entry: bytes, *, stamps: bool) -> bytes:
    when, _, tag, text = entry.split(b" ", 3)
    return (when + b" " if stamps else b"") + text + (b"\n" if tag == WHOLE else b"")

"""One process of a container: started in namespaces of its own, told to end, and its output kept."""

import contextlib
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from io import RawIOBase
from pathlib import Path
from typing import Any, NamedTuple

from local.machines import kernel
from local.machines.root import REPOSITORY
from local.machines.spawn import mapped

from . import log_lines
from .background import vital

# With an interpreter that needs nothing but Python itself.
INSIDE = (sys.executable, "-S", "-E", "-c")
CODE = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); from local.workers.container_init import main; main()"
LONGEST, CHUNK = 10_000_000, 1 << 16
# Of what a probe's command says: the real kubelet reads as much.
SAID_BYTES = 10 << 10
# As much of a log as the kubelet takes for a container's last message.
MESSAGE_BYTES, MESSAGE_LINES = 2048, 80


class Broken(Exception):
    """The process could not become the program. The text says why."""


class NotRunning(Exception):
    """There is no such process. The text says why."""


class Streams(NamedTuple):
    """Descriptors of a process. `session`: it leads one of its own, with the `terminal`, if that is what they are."""

    input: int
    output: int
    error: int
    session: bool = False
    terminal: bool = False


def saying(output: int) -> Streams:
    """It hears nothing."""
    return Streams(subprocess.DEVNULL, output, output)


class Become(NamedTuple):
    """What `inside` reads. `account` has user, group and groups, None is root; mounts have source, at and read_only.

    A `program` without a slash is looked for on the PATH of its environment, where its mounts are in their places.
    Without a `host_name` it has the machine's. `scratch`, `own_etc`: it has a /tmp or an /etc of its own.
    """

    program: str
    words: list[str]
    environment: dict[str, str]
    folder: str
    account: dict[str, Any] | None
    no_new_privileges: bool
    read_only: bool
    scratch: bool
    own_etc: bool
    mounts: list[dict[str, Any]]
    host_name: str | None


def account(user: int, group: int, groups: tuple[int, ...]) -> dict[str, Any] | None:
    """None for root, and where the namespace has no user but root."""
    if (user, group, groups) == (0, 0, ()) or not all(mapped(one) for one in (user, group, *groups)):
        return None
    return {"user": user, "group": group, "groups": sorted({group, *groups})}


def launch(become: Become, streams: Streams, beside: int | None) -> subprocess.Popen[bytes]:
    """Returns once it is the program: process 1 of a namespace, or one `beside` another's process 1.

    It ends with the thread that calls this, which must have no other work. Raises Broken, OSError.
    """
    ours, theirs = socket.socketpair()
    given = os.memfd_create("container")
    with ours:
        try:
            more = {"beside": beside, "session": streams.session, "terminal": streams.terminal}
            os.write(given, json.dumps({**become._asdict(), **more}).encode())
            os.lseek(given, 0, os.SEEK_SET)
            kernel.children_of(beside)
            descriptors = given, theirs.fileno()
            process = subprocess.Popen(
                [*INSIDE, CODE, *(str(one) for one in descriptors)],
                stdin=streams.input,
                stdout=streams.output,
                stderr=streams.error,
                pass_fds=descriptors,
                cwd="/",
            )
        finally:
            os.close(given)
            theirs.close()
        problem = ours.makefile("rb").read().decode(errors="replace")
    if problem:
        process.wait()
        raise Broken(problem)
    return process


class Running:
    """A container's process 1, with a thread of its own. `ended` hears from there its exit code."""

    def __init__(self, become: Become, log: Path, ended: Callable[["Running", int], None]) -> None:
        """Raises Broken, OSError."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self.become, self.log, self.ended = become, log, ended
        begun: queue.SimpleQueue[subprocess.Popen[bytes] | Exception] = queue.SimpleQueue()
        threading.Thread(target=vital, args=(lambda: self.live(begun),), daemon=True).start()
        found = begun.get()
        if isinstance(found, Exception):
            raise found
        self.pid = found.pid

    def live(self, begun: "queue.SimpleQueue[subprocess.Popen[bytes] | Exception]") -> None:
        heard, write_end = os.pipe()
        keeping = threading.Thread(target=keep, args=(heard, self.log), daemon=True)
        # Before the new namespace, with which this thread can start none.
        keeping.start()
        try:
            process = launch(self.become, saying(write_end), None)
        except (OSError, Broken) as error:
            return begun.put(error)
        finally:
            os.close(write_end)
        self.handle = os.pidfd_open(process.pid)
        begun.put(process)
        status = process.wait()
        # What it has written is in its log before anybody hears of its end.
        keeping.join()
        return self.ended(self, status if status >= 0 else 128 - status)

    def send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)

    def close(self) -> None:
        """Once it has ended."""
        os.close(self.handle)

    def beside(self, program: str, words: list[str], streams: Streams, **more: str) -> "subprocess.Popen[bytes]":
        """A command beside it, which has `more` variables, in a thread that starts no other. Raises Broken, OSError."""
        environment = {**more, **self.become.environment}
        become = self.become._replace(program=program, words=words, mounts=[], environment=environment)
        return launch(become, streams, self.pid)

    def run(self, program: str, words: list[str], seconds: float) -> tuple[int, str]:
        """The exit code of a command beside it, and how its output begins.

        In a thread that starts no other. Raises Broken, OSError, subprocess.TimeoutExpired after `seconds`.
        """
        with os.fdopen(os.memfd_create("said"), "w+b") as said:
            process = self.beside(program, words, saying(said.fileno()))
            try:
                code = process.wait(seconds)
            finally:
                process.kill()
                process.wait()
            said.seek(0)
            return code, said.read(SAID_BYTES).decode(errors="replace").strip()


def keep(heard: int, log: Path) -> None:
    """Thread: the output in its file, and what was before in a second one, each of bounded size."""
    with os.fdopen(heard, "rb", buffering=0) as stream:
        file = log.open("ab", buffering=0)
        size = log.stat().st_size
        for entries in kept(stream):
            if size + len(entries) > LONGEST:
                file.close()
                log.replace(log.with_name(f"{log.name}.1"))
                file, size = log.open("ab", buffering=0), 0
            # A full disk is the machine's trouble, not the container's end.
            with contextlib.suppress(OSError):
                file.write(entries)
            size += len(entries)
        file.close()


def kept(stream: RawIOBase) -> Iterator[bytes]:
    """What is written of it, whole entries at a time."""
    rest = b""
    while chunk := stream.read(CHUNK):
        made, rest = log_lines.entries(rest + chunk)
        if made:
            yield made
    if made := log_lines.last(rest):
        yield made


def last_words(log: Path) -> str:
    """The end of its log, as much as a message holds."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - MESSAGE_BYTES - MESSAGE_LINES * log_lines.BEFORE))
        end = file.read()
        # An entry whose beginning is cut off is left out, unless there is no other.
        whole = end.partition(b"\n")[2] if file.tell() > len(end) else end
        text = b"".join(log_lines.printed([whole])) if whole else end
        return "\n".join(text[-MESSAGE_BYTES:].decode(errors="replace").splitlines()[-MESSAGE_LINES:])
    return ""


def prune(folder: Path, used: set[str], most: int) -> None:
    """Of pods that have gone, the logs of the last few stay."""
    entries = [one for one in (folder.iterdir() if folder.is_dir() else ()) if one.name.rpartition("_")[2] not in used]
    for old in sorted(entries, key=lambda one: one.stat().st_mtime)[: max(0, len(entries) - most)]:
        shutil.rmtree(old, ignore_errors=True)

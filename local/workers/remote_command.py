"""Commands in containers that run, for `kubectl exec`: a caller's channels on one side, a process on the other.

By KEP-4006: from Kubernetes 1.36 on the API server hands a WebSocket on as it is, to nodes that declare it.
"""

import contextlib
import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kube_http import Json

from . import images
from .container_logs import on
from .containers import Broken, Streams
from .line import CROWDED_BYTES, IDLE_SECONDS, End, Line
from .pod_container import PodContainer

PROTOCOLS = ("v5.channel.k8s.io",)
STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
# What a command has begun may hold its output open after it has ended: nobody waits longer for the rest of it.
REST_SECONDS = 1.0


class Wanted(NamedTuple):
    command: list[str]
    input: bool
    output: bool
    error: bool
    terminal: bool


def wanted(query: Mapping[str, Sequence[str]]) -> Wanted:
    """PodExecOptions as a kubelet gets them. Raises ValueError."""
    found = Wanted(list(query.get("command", ())), *(on(query, name) for name in ("input", "output", "error", "tty")))
    if not found.command:
        raise ValueError("no command is given")
    if not (found.input or found.output or found.error):
        raise ValueError("you must specify at least 1 of stdin, stdout, stderr")
    return found


def success() -> Json:
    return {"metadata": {}, "status": "Success"}


def failure(code: int) -> Json:
    """As the kubelet says that a command has ended with another code than 0."""
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def broken(why: str) -> Json:
    text = f"Internal error occurred: error executing command in container: {why}"
    return {"metadata": {}, "status": "Failure", "message": text, "reason": "InternalError", "code": 500}


def begin(inside: PodContainer, asked: Wanted, streams: Streams) -> "subprocess.Popen[bytes]":
    """Raises OSError, Broken."""
    running, word = inside.running, asked.command[0]
    program = images.any_program(inside.container["image"], word)
    if running is None or program is None:
        raise Broken("the container has ended" if running is None else f"{word}: {images.HINT}")
    # As runtimes do.
    more = {"TERM": "xterm"} if asked.terminal else {}
    return running.beside(program, asked.command, streams, **more)


def serve(line: Line, inside: PodContainer, asked: Wanted) -> None:
    """Until the command has ended, or the caller has gone, with whom it ends. In a thread that starts no other."""
    # An empty message tells the caller that it is connected.
    line.send(bytes((STDOUT if asked.output else STDERR if asked.error else STATUS,)))
    if status := result(line, inside, asked):
        line.send(bytes((STATUS,)) + json.dumps(status).encode())
    line.leave()


def result(line: Line, inside: PodContainer, asked: Wanted) -> Json | None:
    """None: the caller has gone."""
    with contextlib.ExitStack() as stack:
        ends = Terminal(stack) if asked.terminal else Pipes(stack, asked)
        try:
            process = begin(inside, asked, ends.streams)
        except (OSError, Broken) as error:
            return broken(str(error))
        stack.callback(end, process)
        ends.started()
        code = Exchange(line, ends, asked).run(process)
    return None if code is None else failure(code) if code else success()


def end(process: "subprocess.Popen[bytes]") -> None:
    """With all of its session that is still in its group."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Ends:
    """A command's own ends, and ours of them. `started` lets go of its own once it has them."""

    streams: Streams
    stdin: End | None = None
    outputs: dict[int, End]  # by the channel

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.theirs: list[int] = []
        self.outputs = {}
        self.stack = stack
        stack.callback(self.started)

    def own(self, number: int) -> int:
        self.theirs.append(number)
        return number

    def end(self, number: int) -> End:
        """Ours, which is closed at the latest with the stack."""
        shut = self.stack.enter_context(contextlib.ExitStack())
        shut.callback(os.close, number)
        return End(number, shut.close)

    def started(self) -> None:
        while self.theirs:
            os.close(self.theirs.pop())

    def resize(self, rows: int, columns: int) -> None:
        """Pipes have no size."""


class Pipes(Ends):
    def __init__(self, stack: contextlib.ExitStack, asked: Wanted) -> None:
        super().__init__(stack)
        given = subprocess.DEVNULL
        if asked.input:
            given, ours = os.pipe()
            self.own(given)
            self.stdin = self.end(ours)
        both = [
            self.output(channel) if wants else subprocess.DEVNULL
            for channel, wants in ((STDOUT, asked.output), (STDERR, asked.error))
        ]
        self.streams = Streams(given, both[0], both[1], session=True)

    def output(self, channel: int) -> int:
        ours, given = os.pipe()
        self.outputs[channel] = self.end(ours)
        return self.own(given)


class Terminal(Ends):
    def __init__(self, stack: contextlib.ExitStack) -> None:
        super().__init__(stack)
        ours, given = os.openpty()
        self.own(given)
        self.number = ours
        # It has one end for both ways, which the end of the one way does not close.
        self.outputs[STDOUT] = self.end(ours)
        self.stdin = End(ours)
        self.streams = Streams(given, given, given, session=True, terminal=True)

    def resize(self, rows: int, columns: int) -> None:
        with contextlib.suppress(OSError, struct.error):
            fcntl.ioctl(self.number, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Exchange:
    """What goes to and fro while the command runs."""

    def __init__(self, line: Line, ends: Ends, asked: Wanted) -> None:
        self.line, self.ends, self.asked = line, ends, asked
        self.stdin, self.outputs = ends.stdin, dict(ends.outputs)

    def run(self, process: "subprocess.Popen[bytes]") -> int | None:
        """Its exit code; None: the caller has gone before that."""
        handle, ended, until = os.pidfd_open(process.pid), False, 0.0
        try:
            while not ended or (self.outputs and time.monotonic() < until):
                seconds = until - time.monotonic() if ended else IDLE_SECONDS
                found = self.turn([] if ended else [handle], max(0.0, seconds))
                if self.line.over or (self.line.idle and not ended):
                    return None
                if handle in found or self.line.crowded:
                    # A slow caller loses nothing.
                    ended, until = ended or handle in found, time.monotonic() + REST_SECONDS
        finally:
            os.close(handle)
        status = process.wait()
        return status if status >= 0 else 128 - status

    def turn(self, handles: list[int], seconds: float) -> set[int]:
        """Waits for whatever is ready, and does it."""
        stdin = self.stdin
        outputs = [] if self.line.crowded else list(self.outputs.values())
        writes = [stdin] if stdin and stdin.waiting else []
        hears = stdin is None or len(stdin.waiting) < CROWDED_BYTES
        found = self.line.wait([*handles, *outputs], writes, seconds, hears=hears)
        for channel, one in list(self.outputs.items()):
            if one.fileno() in found:
                self.told(channel, one)
        if self.line.fileno() in found:
            for message in self.line.read():
                self.heard(message)
        self.line.write()
        return found

    def told(self, channel: int, one: End) -> None:
        data = one.read()
        if data:
            self.line.send(bytes((channel,)) + data)
        elif data is not None:
            del self.outputs[channel]

    def heard(self, message: bytes) -> None:
        channel, data = (message[0], message[1:]) if message else (STATUS, b"")
        if channel == STDIN and self.stdin and self.asked.input:
            self.stdin.write(data)
        elif channel == CLOSE and data[:1] == bytes((STDIN,)) and self.stdin:
            self.stdin.write(last=True)
        elif channel == RESIZE:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                size = json.loads(data)
                self.ends.resize(size["Height"], size["Width"])

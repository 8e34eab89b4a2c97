"""Ports of pods that run, for `kubectl port-forward`: streams of one line on one side, connections on the other.

Each connection is two streams by one number, one for its bytes and one for what goes wrong. By KEP-4006 the streams are
SPDY's, in a WebSocket.
"""

import contextlib
import socket

from . import spdy
from .line import CROWDED_BYTES, IDLE_SECONDS, End, Line
from .spdy import Data, Frame, Opened, Ping, Reset
from .spdy_headers import Packer
from .websocket import PROTOCOL_ERROR

PROTOCOLS = ("SPDY/3.1+portforward.k8s.io",)
# A pod is in its machine's network namespace, where, as in one of its own, only what listens here is reached.
HOSTS = ("127.0.0.1", "::1")
CONNECT_SECONDS = 5.0
# Of a stream's headers.
KIND, PORT, REQUEST = "streamtype", "port", "requestid"
DATA, ERROR = "data", "error"


class Pair:
    """One connection. `early` are bytes from before it, and `full` says that no more will come."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.streams: dict[str, int] = {}
        self.early, self.full = b"", False
        self.socket: socket.socket | None = None
        self.end: End | None = None

    def connect(self) -> None:
        """Raises OSError."""
        self.socket = connected(self.port)
        self.end = End(self.socket.fileno(), self.shut)
        self.end.write(self.early, last=self.full)

    def shut(self) -> None:
        with contextlib.suppress(OSError):
            if self.socket:
                self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.end = None
        if self.socket:
            self.socket.close()


def connected(port: int) -> socket.socket:
    """Raises OSError, the first host's."""
    problems = []
    for host in HOSTS:
        try:
            return socket.create_connection((host, port), CONNECT_SECONDS)
        except OSError as error:
            problems.append(error)
    raise problems[0]


def serve(line: Line, title: str) -> None:
    """Until the caller goes. `title` is the pod's."""
    forwards = Forwards(line, title)
    try:
        forwards.run()
    except ValueError:
        line.leave(PROTOCOL_ERROR)
    else:
        line.leave()
    finally:
        for pair in {*forwards.pairs.values(), *forwards.streams.values()}:
            pair.close()


class Forwards:
    def __init__(self, line: Line, title: str) -> None:
        self.line, self.title = line, title
        self.frames, self.pack = spdy.Frames(), Packer()
        self.pairs: dict[str, Pair] = {}  # by the request, until both streams are there
        self.streams: dict[int, Pair] = {}

    def run(self) -> None:
        """Raises ValueError for what is no SPDY."""
        while not (self.line.over or self.line.idle):
            pairs = {one.end: one for one in self.streams.values() if one.end}
            reads = [] if self.line.crowded else list(pairs)
            writes = [one for one in pairs if one.waiting]
            hears = all(len(one.waiting) < CROWDED_BYTES for one in writes)
            found = self.line.wait(reads, writes, IDLE_SECONDS, hears=hears)
            for end, pair in pairs.items():
                if end.fileno() in found:
                    self.told(pair, end)
            if self.line.fileno() in found:
                for message in self.line.read():
                    for frame in self.frames.feed(message):
                        self.heard(frame)
            self.line.write()

    def told(self, pair: Pair, end: End) -> None:
        content = end.read()
        if content:
            self.line.send(spdy.data(pair.streams[DATA], content))
        elif content is not None:
            self.line.send(spdy.data(pair.streams[DATA], b"", last=True))
            self.drop(pair)

    def drop(self, pair: Pair, problem: str = "") -> None:
        """The caller waits for the end of what goes wrong, too."""
        self.line.send(spdy.data(pair.streams[ERROR], problem.encode(), last=True))
        pair.close()
        for stream in pair.streams.values():
            self.streams.pop(stream, None)

    def heard(self, frame: Frame) -> None:
        match frame:
            case Opened():
                self.opened(frame)
            case Data(stream, content, last):
                pair = self.streams.get(stream)
                # What else the stream of errors says is its end, and that comes at once.
                if pair and stream == pair.streams.get(DATA):
                    self.given(pair, content, last=last)
            case Reset(stream):
                pair = self.streams.get(stream)
                if pair and stream == pair.streams.get(DATA) and ERROR in pair.streams:
                    self.drop(pair)
            case Ping(number):
                # Ours would be even numbers.
                if number % 2:
                    self.line.send(spdy.ping(number))

    def given(self, pair: Pair, content: bytes, *, last: bool) -> None:
        if pair.end:
            pair.end.write(content, last=last)
        else:
            pair.early, pair.full = pair.early + content, last

    def opened(self, frame: Opened) -> None:
        kind, port = frame.headers.get(KIND, ""), frame.headers.get(PORT, "")
        request = frame.headers.get(REQUEST, "")
        known = kind in (DATA, ERROR) and port.isdecimal() and 0 < int(port) < 1 << 16
        pair = self.pairs.setdefault(request, Pair(int(port))) if known else None
        if pair is None or kind in pair.streams or frame.stream in self.streams:
            self.line.send(spdy.reset(frame.stream, spdy.PROTOCOL_ERROR))
            return
        pair.streams[kind] = frame.stream
        self.streams[frame.stream] = pair
        self.line.send(spdy.reply(frame.stream, self.pack))
        if kind == DATA:
            pair.full = frame.last
        if len(pair.streams) == 2:
            del self.pairs[request]
            self.begin(pair)

    def begin(self, pair: Pair) -> None:
        try:
            pair.connect()
        except OSError as error:
            stream = pair.streams[DATA]
            self.drop(pair, f"error forwarding port {pair.port} to pod {self.title}: {error}")
            self.line.send(spdy.reset(stream, spdy.INTERNAL_ERROR))

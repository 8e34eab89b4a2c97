"""A caller's WebSocket, and the descriptors behind it, in one thread that waits for whatever is ready first.

One, because two may not read and write one line of OpenSSL at the same time.
"""

import math
import os
import select
import ssl
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

from . import websocket
from .websocket import Broken, Messages

CHUNK = 1 << 16
# Who has so much to be sent is asked for no more.
CROWDED_BYTES = 1 << 20
# The real kubelet's own, for a line on which nothing happens; and how long a caller may take leave.
IDLE_SECONDS, LEAVE_SECONDS = 4 * 3600.0, 5.0

# A caller that isn't heard is written to so often: an API server that has too much to hand on to us does not tell of a
# client that has gone, until it has something for it.
DEAF_SECONDS = 5.0
ENDED = select.POLLHUP | select.POLLRDHUP | select.POLLERR


class End:
    """`number` is a pipe, a terminal or a socket, which nobody waits for. `shut` tells it that no more will come."""

    def __init__(self, number: int, shut: Callable[[], None] = lambda: None) -> None:
        os.set_blocking(number, False)
        self.number, self.shut = number, shut
        self.waiting = bytearray()
        # No more is to come, and it was told so.
        self.ending = self.over = False

    def fileno(self) -> int:
        return self.number

    def read(self) -> bytes | None:
        """Some of it; nothing at its end, and None if nothing has come."""
        try:
            return os.read(self.number, CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            # A terminal's way to say that nobody has it open any more.
            return b""

    def write(self, data: bytes = b"", *, last: bool = False) -> None:
        """As much as it takes; the rest waits. Once it takes no more at all, everything is dropped."""
        if self.over:
            return
        self.waiting += data
        self.ending |= last
        try:
            while self.waiting:
                del self.waiting[: os.write(self.number, self.waiting)]
        except BlockingIOError:
            return
        except OSError:
            self.waiting.clear()
        if self.ending:
            self.over = True
            self.shut()


class Line:
    def __init__(self, connection: ssl.SSLSocket) -> None:
        connection.settimeout(0)
        self.connection, self.messages = connection, Messages()
        self.out = bytearray()
        # The caller has gone, or takes leave; and nothing at all has happened for as long as was waited.
        self.over = self.idle = False

    def fileno(self) -> int:
        return self.connection.fileno()

    def send(self, data: bytes) -> None:
        """A message, as soon as it can be."""
        self.out += websocket.frame(websocket.BINARY, data)

    def read(self) -> list[bytes]:
        found: list[bytes] = []
        try:
            while data := self.connection.recv(CHUNK):
                found += self.messages.feed(data)
                self.out += self.messages.answers
                self.messages.answers.clear()
                if sum(len(one) for one in found) > CROWDED_BYTES:
                    break
            self.over |= not data or self.messages.closed
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            self.over |= self.messages.closed
        except Broken as error:
            self.out += websocket.closing(error.code)
            self.over = True
        except OSError:
            self.out.clear()
            self.over = True
        return found

    def write(self) -> None:
        """As much as goes now."""
        try:
            while self.out:
                # A call that would have waited is made again with the same bytes first.
                del self.out[: self.connection.send(bytes(self.out[:CHUNK]))]
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        except OSError:
            self.out.clear()
            self.over = True

    def wait(self, reads: Sequence[int | End], writes: Sequence[End], seconds: float, *, hears: bool) -> set[int]:
        """Descriptors that can be read. What can be written is; `hears` is whether the caller is listened to."""
        ready = select.poll()
        # Also of one that isn't heard it is seen that it goes.
        masks = {self.fileno(): select.POLLRDHUP | (select.POLLIN if hears else 0)}
        for each in reads:
            number = each if isinstance(each, int) else each.fileno()
            masks[number] = select.POLLIN
        writers: list[Line | End] = [self, *writes] if self.out else [*writes]
        outgoing = {one.fileno(): one for one in writers}
        for number in outgoing:
            masks[number] = masks.get(number, 0) | select.POLLOUT
        for number, mask in masks.items():
            ready.register(number, mask)
        # What is decrypted already is not seen by the system.
        decrypted = hears and self.connection.pending() > 0
        seconds = 0.0 if decrypted else seconds if hears else min(seconds, DEAF_SECONDS)
        found = ready.poll(math.ceil(seconds * 1000))
        self.idle = hears and not found and not decrypted
        if not hears and not found:
            self.out += websocket.frame(websocket.PING, b"")
        for number, mask in found:
            if mask & (select.POLLOUT | select.POLLERR) and number in outgoing:
                outgoing[number].write()
            self.over |= number == self.fileno() and not hears and bool(mask & ENDED)
        readable = {number for number, mask in found if mask & (select.POLLIN | ENDED)}
        return readable | ({self.fileno()} if decrypted else set())

    @property
    def crowded(self) -> bool:
        return len(self.out) > CROWDED_BYTES

    def leave(self, code: int = websocket.NORMAL) -> None:
        """Takes leave, and waits a little until the caller has heard it: bytes on a line that is cut may be lost."""
        if not self.messages.closed:
            self.out += websocket.closing(code)
        self.messages.left, self.over, self.idle = True, False, False
        while self.out and not self.over and not self.idle:
            self.listen(IDLE_SECONDS)
        until = time.monotonic() + LEAVE_SECONDS
        while not self.over and (left := until - time.monotonic()) > 0:
            self.listen(left)

    def listen(self, seconds: float) -> None:
        if self.fileno() in self.wait((), (), seconds, hears=True):
            self.read()


def upgraded(handler: BaseHTTPRequestHandler, connection: ssl.SSLSocket, known: Sequence[str]) -> Line:
    """The line that the call becomes. Raises websocket.Refused, OSError."""
    headers = websocket.accept(handler.headers.items(), known)
    handler.close_connection = True
    handler.send_response_only(HTTPStatus.SWITCHING_PROTOCOLS)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    return Line(connection)

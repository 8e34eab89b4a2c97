"""Questions for a DNS server on the loopback, and a resolver of the world's names that can fail (RFC 1035)."""

import secrets
import socket
import struct
import threading
from collections.abc import Callable
from typing import NamedTuple

HERE, A, IN = "127.0.0.1", 1, 1
NO_ERROR, FAILED, NO_NAME = 0, 2, 3


class Answer(NamedTuple):
    """`code` is the header's RCODE; `addresses` of records of type A."""

    code: int
    addresses: tuple[str, ...]


def ask(port: int, name: str, seconds: float = 15) -> Answer:
    """By UDP. Raises TimeoutError."""
    number = secrets.randbelow(1 << 16)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(seconds)
        line.sendto(struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + question(name), (HERE, port))
        told = line.recv(65535)
    assert struct.unpack(">H", told[:2])[0] == number
    code, answers = told[3] & 0xF, struct.unpack(">H", told[6:8])[0]
    at, found = 12 + len(question(name)), []
    for _ in range(answers):
        at = _past(told, at)
        kind, _, _, length = struct.unpack(">HHIH", told[at : at + 10])
        if kind == A:
            found.append(socket.inet_ntoa(told[at + 10 : at + 14]))
        at += 10 + length
    return Answer(code, tuple(sorted(found)))


def question(name: str) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.rstrip(".").split("."))
    return labels + b"\0" + struct.pack(">2H", A, IN)


def _past(told: bytes, at: int) -> int:
    """Behind the name that stands there."""
    while told[at] and told[at] < 0xC0:
        at += 1 + told[at]
    return at + (2 if told[at] else 1)


class World:
    """Knows an address for every name, for a second. `mood` is what it does: answers, fails or is silent."""

    def __init__(self, address: str = "192.0.2.80") -> None:
        self.line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.line.bind((HERE, 0))
        self.port = int(self.line.getsockname()[1])
        self.address, self.mood = address, "answers"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self.line.close()

    def _serve(self) -> None:
        make: dict[str, Callable[[bytes], bytes]] = {"answers": self._answer, "fails": self._failure}
        while True:
            try:
                told, who = self.line.recvfrom(65535)
                if self.mood in make:
                    self.line.sendto(make[self.mood](told), who)
            except OSError:
                return

    def _answer(self, told: bytes) -> bytes:
        end = _past(told, 12) + 4
        if struct.unpack(">H", told[end - 4 : end - 2])[0] != A:
            return told[:2] + struct.pack(">5H", 0x8180, 1, 0, 0, 0) + told[12:end]
        record = struct.pack(">HHHIH", 0xC00C, A, IN, 1, 4) + socket.inet_aton(self.address)
        return told[:2] + struct.pack(">5H", 0x8180, 1, 1, 0, 0) + told[12:end] + record

    def _failure(self, told: bytes) -> bytes:
        return told[:2] + struct.pack(">5H", 0x8180 | FAILED, 1, 0, 0, 0) + told[12 : _past(told, 12) + 4]

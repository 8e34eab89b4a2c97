"""SPDY/3.1 as far as Kubernetes speaks it: streams that the caller opens, their bytes and their ends. Pure.

By the protocol's draft 3.1. Its peers here do without priorities, settings and windows: those frames change nothing.
"""

import struct
from typing import NamedTuple

from .spdy_headers import Packer, Unpacker

# Frames' types, and their flag for a sender that has no more to say.
SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY, HEADERS = 1, 2, 3, 6, 7, 8
FIN = 0x01
CONTROL, VERSION = 0x80000000, 3
PROTOCOL_ERROR, INTERNAL_ERROR = 1, 6
HEAD, NUMBER, PAIR = struct.Struct(">II"), struct.Struct(">I"), struct.Struct(">II")
# Of a SYN_STREAM, before its headers: two streams' numbers, a priority and a slot. HEADERS has one number.
OPENING, MORE = 10, 4


class Opened(NamedTuple):
    stream: int
    headers: dict[str, str]
    last: bool


class Data(NamedTuple):
    stream: int
    data: bytes
    last: bool


class Reset(NamedTuple):
    stream: int


class Ping(NamedTuple):
    number: int


Frame = Opened | Data | Reset | Ping


class Frames:
    """Those of the caller. All that it has sent goes through one of these, for the sake of the headers."""

    def __init__(self) -> None:
        self.come = bytearray()
        self.unpack = Unpacker()

    def feed(self, data: bytes) -> list[Frame]:
        """Those that are whole now, and of those that matter. Raises ValueError."""
        self.come += data
        found = []
        while len(self.come) >= HEAD.size:
            first, second = HEAD.unpack_from(self.come)
            end = HEAD.size + (second & 0xFFFFFF)
            if len(self.come) < end:
                break
            content = bytes(self.come[HEAD.size : end])
            del self.come[:end]
            if frame := self.frame(first, second >> 24, content):
                found.append(frame)
        return found

    def frame(self, first: int, flags: int, content: bytes) -> Frame | None:
        last = bool(flags & FIN)
        if not first & CONTROL:
            return Data(first, content, last)
        if first >> 16 & 0x7FFF != VERSION:
            raise ValueError(f"version {first >> 16 & 0x7FFF} of SPDY")
        kind = first & 0xFFFF
        if len(content) < NUMBER.size:
            return None
        number = NUMBER.unpack_from(content)[0] & ~CONTROL
        if kind == SYN_STREAM:
            return Opened(number, self.unpack(content[OPENING:]), last)
        if kind == HEADERS:
            self.unpack(content[MORE:])
        if kind == RST_STREAM:
            return Reset(number)
        return Ping(NUMBER.unpack_from(content)[0]) if kind == PING else None


def control(kind: int, content: bytes) -> bytes:
    return HEAD.pack(CONTROL | VERSION << 16 | kind, len(content)) + content


def reply(stream: int, pack: Packer) -> bytes:
    """`pack` is the one for all headers that are sent on a line."""
    return control(SYN_REPLY, NUMBER.pack(stream) + pack({}))


def data(stream: int, content: bytes, *, last: bool = False) -> bytes:
    return HEAD.pack(stream, (FIN if last else 0) << 24 | len(content)) + content


def reset(stream: int, status: int) -> bytes:
    return control(RST_STREAM, PAIR.pack(stream, status))


def ping(number: int) -> bytes:
    return control(PING, NUMBER.pack(number))

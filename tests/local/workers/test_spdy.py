"""SPDY's frames as peers send them, in any pieces, and the headers that all of a line share."""

import zlib

import pytest

from local.workers import spdy
from local.workers.spdy import Data, Frames, Opened, Ping, Reset
from local.workers.spdy_headers import DICTIONARY, Packer, Unpacker

STREAM = {"streamtype": "data", "port": "8080", "requestid": "0"}


def opening(stream: int, headers: dict[str, str], pack: Packer, flags: int = 0) -> bytes:
    content = stream.to_bytes(4, "big") + bytes(6) + pack(headers)
    return (0x80030001).to_bytes(4, "big") + bytes((flags,)) + len(content).to_bytes(3, "big") + content


def test_the_dictionary_is_the_protocol_s() -> None:
    """By the number that is in the first bytes of each line."""
    assert (zlib.adler32(DICTIONARY), len(DICTIONARY)) == (0xE3C6A7C2, 1423)


def test_frames_come_in_any_pieces() -> None:
    pack = Packer()
    stream = b"".join(
        (
            opening(1, {**STREAM, "streamtype": "error"}, pack),
            spdy.data(1, b"", last=True),
            opening(3, STREAM, pack, flags=spdy.FIN),
            spdy.data(3, bytes(70_000)),
            spdy.ping(7),
            spdy.control(4, bytes(12)),  # SETTINGS
            spdy.control(9, bytes(8)),  # WINDOW_UPDATE
            spdy.control(spdy.HEADERS, bytes(4) + pack({"late": "yes"})),
            opening(5, STREAM, pack),
            spdy.reset(3, 5),
            spdy.control(spdy.GOAWAY, bytes(8)),
        )
    )
    for step in (1, 1000, len(stream)):
        frames = Frames()
        found = [one for at in range(0, len(stream), step) for one in frames.feed(stream[at : at + step])]
        assert found == [
            Opened(1, {**STREAM, "streamtype": "error"}, last=False),
            Data(1, b"", last=True),
            Opened(3, STREAM, last=True),
            Data(3, bytes(70_000), last=False),
            Ping(7),
            Opened(5, STREAM, last=False),
            Reset(3),
        ]


def test_a_reply_is_what_the_draft_says() -> None:
    pack = Packer()
    first, second = spdy.reply(1, pack), spdy.reply(3, pack)
    assert first[:4] == bytes.fromhex("80030002")
    assert (first[8:12], second[8:12]) == (bytes((0, 0, 0, 1)), bytes((0, 0, 0, 3)))
    assert first[14:18] == bytes.fromhex("e3c6a7c2")
    unpack = Unpacker()
    assert (unpack(first[12:]), unpack(second[12:])) == ({}, {})


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("8002000100000000"),
        bytes.fromhex("80030001") + (14).to_bytes(4, "big") + bytes(10) + b"none",
        opening(1, {"long": "x" * 70_000}, Packer()),
    ],
)
def test_what_is_none_is_told(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"SPDY|headers"):
        Frames().feed(data)

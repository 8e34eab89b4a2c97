"""WebSockets by RFC 6455: the handshake of its section 1.3, frames in pieces, and what breaks the rules."""

import pytest

from local.workers import websocket
from local.workers.websocket import BINARY, CLOSE, CONTINUATION, LAST, PING, PONG, TEXT, Broken, Messages, Refused

KEY = b"\x01\x02\x03\x04"
ASKED = {
    "Upgrade": "WebSocket",
    "Connection": "keep-alive, Upgrade",
    "Sec-Websocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-Websocket-Version": "13",
    "Sec-Websocket-Protocol": "v9.example.com, v5.example.com",
}


def sent(kind: int, data: bytes, *, last: bool = True) -> bytes:
    """As a caller sends it: masked."""
    whole = bytearray(websocket.frame(kind, data))
    whole[1] |= 0x80
    if not last:
        whole[0] &= ~LAST
    head = len(whole) - len(data)
    return bytes(whole[:head]) + KEY + websocket.unmasked(data, KEY)


def test_the_handshake_is_that_of_the_rfc() -> None:
    told = websocket.accept(ASKED.items(), ("v5.example.com", "v4.example.com"))
    assert told["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    assert told["Sec-WebSocket-Protocol"] == "v5.example.com"
    twice = [*ASKED.items(), ("sec-websocket-protocol", "v4.example.com")]
    assert websocket.accept(twice, ("v4.example.com",))["Sec-WebSocket-Protocol"] == "v4.example.com"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("Upgrade", "SPDY/3.1", "a WebSocket is needed, not spdy/3.1"),
        ("Upgrade", "", "a WebSocket is needed, not a plain call"),
        ("Connection", "close", "a WebSocket is needed"),
        ("Sec-Websocket-Version", "8", "version 13"),
        ("Sec-Websocket-Key", "", "has a key"),
        ("Sec-Websocket-Protocol", "v4.example.com", "the protocol is v5.example.com, not v4.example.com"),
    ],
)
def test_another_call_is_refused(name: str, value: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        websocket.accept({**ASKED, name: value}.items(), ("v5.example.com",))


def test_masks_are_those_of_the_rfc() -> None:
    """Section 5.7."""
    masked = bytes.fromhex("818537fa213d7f9f4d5158")
    assert websocket.unmasked(masked[6:], masked[2:6]) == b"Hello"
    assert websocket.frame(TEXT, b"Hello") == bytes.fromhex("810548656c6c6f")
    assert websocket.frame(BINARY, bytes(256))[:4] == bytes.fromhex("827e0100")
    assert websocket.frame(BINARY, bytes(65536))[:10] == bytes.fromhex("827f0000000000010000")


def test_messages_come_in_any_pieces() -> None:
    sizes = (0, 1, 125, 126, 65535, 65536, 100_001)
    contents = [bytes(number % 251 for number in range(size)) for size in sizes]
    stream = b"".join(sent(BINARY, one) for one in contents)
    for step in (7, 4096, len(stream)):
        messages = Messages()
        found = [one for at in range(0, len(stream), step) for one in messages.feed(stream[at : at + step])]
        assert found == contents


def test_a_message_may_be_several_frames_with_others_between() -> None:
    messages = Messages()
    assert messages.feed(sent(BINARY, b"on", last=False) + sent(PING, b"there?")) == []
    assert messages.answers == websocket.frame(PONG, b"there?")
    assert messages.feed(sent(CONTINUATION, b"", last=False) + sent(PONG, b"")) == []
    assert messages.feed(sent(CONTINUATION, b"e") + sent(BINARY, b"two")) == [b"one", b"two"]


def test_who_takes_leave_is_answered_and_heard_no_more() -> None:
    messages = Messages()
    bye = (1000).to_bytes(2, "big")
    assert messages.feed(sent(CLOSE, bye + b"done") + sent(BINARY, b"late")) == []
    assert messages.closed
    assert messages.answers == websocket.closing(1000)
    messages = Messages()
    messages.left = True
    messages.feed(sent(CLOSE, bye))
    assert not messages.answers, "it is the answer to ours"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (websocket.frame(BINARY, b"bare"), 1002),
        (b"\xc2\x80", 1002),
        (sent(PING, b"", last=False), 1002),
        (sent(PING, bytes(126)), 1002),
        (sent(CONTINUATION, b"of nothing"), 1002),
        (sent(BINARY, b"", last=False) + sent(BINARY, b""), 1002),
        (sent(3, b""), 1002),
        (sent(TEXT, b"text"), 1003),
        (b"\x82\xff\x00\x00\x00\x00\x01\x00\x00\x01", 1009),
    ],
)
def test_what_breaks_the_rules_is_told_by_its_code(data: bytes, code: int) -> None:
    with pytest.raises(Broken) as told:
        Messages().feed(data)
    assert told.value.code == code

"""The server's side of WebSockets, RFC 6455: the handshake, and bytes to messages and back. Pure.

No extension is spoken, and text is not: Kubernetes' streams are of binary messages only.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence

VERSION, GUID = "13", "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
LAST, MASKED, RESERVED, CONTROL = 0x80, 0x80, 0x70, 0x8
# Section 7.4.1.
NORMAL, PROTOCOL_ERROR, UNSUPPORTED, TOO_LARGE = 1000, 1002, 1003, 1009
# Section 5.5: a control frame has no more, and is never one of several.
MOST_CONTROL = 125
# One message, of however many frames. Peers send what they have read at once, 32 KiB mostly.
MOST_BYTES = 1 << 24


class Refused(Exception):
    """What the caller asked for is no WebSocket that we speak. The text says why."""


class Broken(Exception):
    """The caller does not keep to the protocol; `code` is what it is told."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def words(headers: Mapping[str, str], name: str) -> list[str]:
    return [word.strip() for word in headers.get(name, "").split(",") if word.strip()]


def accept(given: Iterable[tuple[str, str]], known: Sequence[str]) -> dict[str, str]:
    """The answer's headers. The first protocol offered that is `known` is taken. Raises Refused.

    Sections 4.2.1 and 4.2.2.
    """
    headers: dict[str, str] = {}
    for name, value in given:
        headers[name.lower()] = ", ".join(filter(None, (headers.get(name.lower()), value)))
    asked = {name: [word.lower() for word in words(headers, name)] for name in ("upgrade", "connection")}
    if "websocket" not in asked["upgrade"] or "upgrade" not in asked["connection"]:
        raise Refused(f"a WebSocket is needed, not {' '.join(asked['upgrade']) or 'a plain call'}")
    key = headers.get("sec-websocket-key", "")
    if headers.get("sec-websocket-version") != VERSION or not key:
        raise Refused(f"a WebSocket has a key, and version {VERSION}")
    offered = words(headers, "sec-websocket-protocol")
    protocol = next((one for one in offered if one in known), None)
    if protocol is None:
        raise Refused(f"the protocol is {' or '.join(known)}, not {', '.join(offered) or 'none'}")
    digest = hashlib.sha1((key + GUID).encode(), usedforsecurity=False).digest()
    return {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Accept": base64.b64encode(digest).decode(),
        "Sec-WebSocket-Protocol": protocol,
    }


def frame(kind: int, data: bytes) -> bytes:
    """A whole message, or a control frame. What a server sends is not masked."""
    size = len(data)
    if size <= MOST_CONTROL:
        head = bytes((LAST | kind, size))
    elif size < 1 << 16:
        head = bytes((LAST | kind, 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((LAST | kind, 127)) + size.to_bytes(8, "big")
    return head + data


def closing(code: int) -> bytes:
    return frame(CLOSE, code.to_bytes(2, "big"))


def unmasked(data: bytes, key: bytes) -> bytes:
    """Section 5.3; as one large number, since there is no faster way without other libraries."""
    size = len(data)
    mask = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(data, "big") ^ int.from_bytes(mask, "big")).to_bytes(size, "big")


class Messages:
    """What has come from the caller; `answers` is what the protocol itself wants to be sent."""

    def __init__(self) -> None:
        self.come, self.answers = bytearray(), bytearray()
        # `closed` by the caller, `left` by us: who has said it doesn't answer it.
        self.closed = self.left = False
        # The frames so far of a message that has not ended; None between two.
        self.begun: bytearray | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Those messages that are whole now. Raises Broken."""
        self.come += data
        found = []
        while not self.closed and (taken := self.take()):
            kind, last, content = taken
            if kind & CONTROL:
                self.control(kind, content)
            elif (message := self.add(kind, content, last=last)) is not None:
                found.append(message)
        return found

    def take(self) -> tuple[int, bool, bytes] | None:
        """Kind of the next frame, whether it is its message's last, and its content; None until all of it is there."""
        if len(self.come) < 2:
            return None
        first, second = self.come[0], self.come[1]
        kind, last, size, at = first & 0xF, bool(first & LAST), second & 0x7F, 2
        if first & RESERVED or not second & MASKED:
            raise Broken(PROTOCOL_ERROR, "a caller's frame is masked and has no extensions")
        if kind & CONTROL and (not last or size > MOST_CONTROL):
            raise Broken(PROTOCOL_ERROR, "a control frame is short and whole")
        if size > MOST_CONTROL:
            at += 2 if size == 126 else 8
            if len(self.come) < at:
                return None
            size = int.from_bytes(self.come[2:at], "big")
        if size + len(self.begun or b"") > MOST_BYTES:
            raise Broken(TOO_LARGE, f"a message of more than {MOST_BYTES} bytes")
        end = at + 4 + size
        if len(self.come) < end:
            return None
        content = unmasked(bytes(self.come[at + 4 : end]), bytes(self.come[at : at + 4]))
        del self.come[:end]
        return kind, last, content

    def control(self, kind: int, content: bytes) -> None:
        if kind == PING:
            self.answers += frame(PONG, content)
        elif kind == CLOSE:
            self.closed = True
            self.answers += b"" if self.left else frame(CLOSE, content[:2])
        elif kind != PONG:
            raise Broken(PROTOCOL_ERROR, f"a frame of the unknown kind {kind}")

    def add(self, kind: int, content: bytes, *, last: bool) -> bytes | None:
        """The message, if this is the end of it."""
        if kind == TEXT:
            raise Broken(UNSUPPORTED, "text")
        if kind not in (BINARY, CONTINUATION) or (kind == BINARY) != (self.begun is None):
            raise Broken(PROTOCOL_ERROR, f"a frame of kind {kind} where none can be")
        whole = bytearray() if self.begun is None else self.begun
        whole += content
        self.begun = None if last else whole
        return bytes(whole) if last else None

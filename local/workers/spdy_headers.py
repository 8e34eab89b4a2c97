"""Header blocks of SPDY/3: names and values, pressed by zlib with the protocol's own dictionary. Pure.

By the protocol's draft 3, "Name/Value Header Block": one run of zlib for all blocks of one direction.
"""

import struct
import zlib
from collections.abc import Mapping

WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie "
    "keep-alive origin"
)
REST = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
    "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
    "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
NUMBER = struct.Struct(">I")
# Far more than any stream's own; pressed data may promise anything.
MOST_BYTES = 1 << 16


def counted(text: str) -> bytes:
    return NUMBER.pack(len(text.encode())) + text.encode()


# A word with a blank stands with a line below it.
DICTIONARY = b"".join(counted(word.replace("_", " ")) for word in WORDS.split()) + REST.encode()


class Unpacker:
    def __init__(self) -> None:
        self.zlib = zlib.decompressobj(zdict=DICTIONARY)

    def __call__(self, block: bytes) -> dict[str, str]:
        """Names are in small letters. Raises ValueError."""
        try:
            text = self.zlib.decompress(block, MOST_BYTES)
            if self.zlib.unconsumed_tail:
                raise ValueError(f"headers of more than {MOST_BYTES} bytes")
            (pairs,), at, words = NUMBER.unpack_from(text), NUMBER.size, []
            for _ in range(2 * pairs):
                (size,) = NUMBER.unpack_from(text, at)
                at += NUMBER.size + size
                words.append(text[at - size : at].decode())
        except (zlib.error, struct.error) as error:
            raise ValueError(f"headers: {error}") from None
        if at > len(text):
            raise ValueError("headers are cut")
        return dict(zip(words[::2], words[1::2], strict=True))


class Packer:
    def __init__(self) -> None:
        self.zlib = zlib.compressobj(zdict=DICTIONARY)

    def __call__(self, headers: Mapping[str, str]) -> bytes:
        words = b"".join(counted(name) + counted(value) for name, value in headers.items())
        return self.zlib.compress(NUMBER.pack(len(headers)) + words) + self.zlib.flush(zlib.Z_SYNC_FLUSH)

"""Keys that hide the handshake from whoever has no profile: OpenVPN's tls-crypt-v2, a key of its own for each person.

The server keeps one key, and a client's own comes wrapped in it. Form and algorithms: OpenVPN's doc/tls-crypt-v2.txt.
"""

import base64
import hmac
import os
import struct

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

SERVER_BYTES, CLIENT_BYTES = 128, 256
TAG_BYTES, IV_BYTES, LENGTH_BYTES = 32, 16, 2
# Of the 64 bytes kept for each, AES-256 and HMAC-SHA256 take the first 32.
CIPHER, HMAC = slice(0, 32), slice(64, 96)
# Kind of what stands beside the key: a time.
TIMESTAMP = 1
SERVER, CLIENT = "OpenVPN tls-crypt-v2 server key", "OpenVPN tls-crypt-v2 client key"


def server_key(base64_text: str) -> str:
    """The file of the server's key, from base64 of its 128 bytes."""
    return _pem(SERVER, base64.b64decode(base64_text))


def client_key(base64_text: str, now_seconds: int, own: bytes = b"") -> str:
    """The file of a new client's key. `own` are the 256 bytes that are its secret; random if not given."""
    secret = own or os.urandom(CLIENT_BYTES)
    return _pem(
        CLIENT, secret + wrapped(base64.b64decode(base64_text), secret, struct.pack(">BQ", TIMESTAMP, now_seconds))
    )


def wrapped(server: bytes, secret: bytes, metadata: bytes) -> bytes:
    """Raises ValueError for a server's key of another length."""
    if len(server) != SERVER_BYTES:
        raise ValueError(f"a server's wrapping key has {SERVER_BYTES} bytes, this one {len(server)}")
    plain = secret + metadata
    length = struct.pack(">H", TAG_BYTES + len(plain) + LENGTH_BYTES)
    tag = hmac.digest(server[HMAC], length + plain, "sha256")
    encryptor = Cipher(AES(server[CIPHER]), CTR(tag[:IV_BYTES])).encryptor()
    return tag + encryptor.update(plain) + encryptor.finalize() + length


def _pem(kind: str, data: bytes) -> str:
    text = base64.b64encode(data).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"]) + "\n"

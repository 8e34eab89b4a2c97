"""A site's `index.json`: which images lie there, with their digests, and what its channels say; all of it signed.

Text and signature are one file, so that both are always of one version. Whoever has the public key need trust neither
the web server nor the way to it. `number` goes up with every change, so that an old index can be told from a new one.
"""

import base64
import datetime
import os
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from pydantic import ValidationError

from ...baked import Baked, Name, Part
from ...errors import ImageError
from ..store import State

FILE = "index.json"
MAKE_KEY = "openssl genpkey -algorithm ed25519 -out KEY.pem && chmod 600 KEY.pem"
MAKE_PUBLIC = "openssl pkey -in KEY.pem -pubout -out PUBLIC.pem"


class Listed(Part):
    """An image that lies there, and what became of it."""

    image: Baked
    published: datetime.datetime
    state: State
    since: datetime.datetime


class ChannelState(Part):
    """What a channel says, and the record of its last move."""

    image: str
    previous: str
    who: str
    when: datetime.datetime
    why: str
    before: str


class Index(Part):
    """`pointers` are by variant/Kubernetes/channel."""

    site: str
    number: int
    written: datetime.datetime
    images: Mapping[Name, Listed]
    pointers: Mapping[str, ChannelState]


class SignedIndex(Part):
    """The index as its text, which the signature (Ed25519, base64) is of."""

    index: str
    signature: str


def private_key(file: Path) -> Ed25519PrivateKey:
    """Raises ImageError for a file that is none, or that others can read."""
    try:
        text, mode = file.read_bytes(), file.stat().st_mode
        key = load_pem_private_key(text, None)
    except OSError as error:
        raise ImageError(f"{file}: {error.strerror}. Name the key by --key; this makes one: {MAKE_KEY}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ImageError(f"{file} holds no private key in PEM without a password. This makes one: {MAKE_KEY}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ImageError(f"{file} holds a key of another kind than Ed25519. This makes one: {MAKE_KEY}")
    if mode & 0o077:
        raise ImageError(f"{file} can be read by others than its owner: chmod 600 {file}")
    return key


def public_key(file: Path) -> Ed25519PublicKey:
    """Raises ImageError for a file that is none."""
    try:
        key = load_pem_public_key(file.read_bytes())
    except OSError as error:
        raise ImageError(f"{file}: {error.strerror}. Name the public key by --key: {MAKE_PUBLIC}") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ImageError(f"{file} holds no public key in PEM. This writes it: {MAKE_PUBLIC}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ImageError(f"{file} holds a key of another kind than Ed25519. This writes it: {MAKE_PUBLIC}")
    return key


def opened(text: bytes, key: Ed25519PublicKey, where: str) -> Index:
    """Raises ImageError for an index that this key has not signed."""
    try:
        signed = SignedIndex.model_validate_json(text)
        key.verify(base64.b64decode(signed.signature, validate=True), signed.index.encode())
        return Index.model_validate_json(signed.index)
    except InvalidSignature:
        raise ImageError(f"{where} is not signed by this key: it was changed, or another key signs it") from None
    except (ValidationError, ValueError):
        raise ImageError(f"{where} is no index of images, or one of another version of Landbridge") from None


def write(index: Index, key: Ed25519PrivateKey, file: Path) -> None:
    """In one step: whoever reads gets the old one or the new one. Raises OSError."""
    text = index.model_dump_json()
    signature = base64.b64encode(key.sign(text.encode())).decode()
    half = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with half.open("w") as stream:
            stream.write(SignedIndex(index=text, signature=signature).model_dump_json(indent=1) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        half.rename(file)
    finally:
        half.unlink(missing_ok=True)

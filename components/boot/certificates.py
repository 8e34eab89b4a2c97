"""Certificates for SSH, of people and of hosts, and the list of people's that count no more.

Form: OpenSSH's PROTOCOL.certkeys and PROTOCOL.sshsig. By hand, for the builder of `cryptography` knows no keys that lie
on hardware tokens, and no signatures of files.
"""

import base64
import hashlib
import json
import os
import secrets
import struct
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_ssh_public_key,
)

# A working day; at most a week, for a list in the bucket is no cure for certificates that hold for long.
HOURS, MOST_HOURS = 10, 168
# So far may clocks of an operator and of a machine be apart.
SKEW = timedelta(minutes=5)
# An ended certificate is refused anyway: it stays on the list for a day, for clocks that are behind.
LISTED = timedelta(days=1)
USER, HOST = 1, 2
# Until the key itself is another one (PROTOCOL.certkeys: the largest number means for ever).
FOR_EVER = (0, 2**64 - 1)
SUFFIX = "-cert-v01"
NONCE_BYTES = 32
ARMOUR_BEGIN, ARMOUR_END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
# What a signature of a list is for: none for anything else is taken, and the list's for nothing else.
NAMESPACE = "landbridge-revoked"
ARMOUR_COLUMNS = 70


class Certificate(NamedTuple):
    """`serial` is sixteen hexadecimal digits; `text` the one line of a -cert.pub file."""

    serial: str
    text: str
    since: datetime
    until: datetime


class Revoked(NamedTuple):
    """A certificate that counts no more, and when it would have ended."""

    serial: str
    until: datetime


class Listed(NamedTuple):
    """A list of revoked certificates as it lies in the bucket."""

    number: int
    serials: frozenset[str]


def read(text: str) -> Ed25519PrivateKey:
    """The authority's secret. Raises ValueError and KeyError for a text that is none of ours."""
    return signing(json.loads(text)["key"])


def signing(pem: str) -> Ed25519PrivateKey:
    """Raises ValueError."""
    key = load_pem_private_key(pem.encode(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("its key is no Ed25519 key")
    return key


def public_line(key: Ed25519PrivateKey) -> str:
    """As machines are told it."""
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def issue(key: Ed25519PrivateKey, person: str, public: str, hours: float, now: datetime) -> Certificate:
    """For a public key that `fleet.people.key_problem` has nothing against. A terminal and commands, nothing else.

    Its one principal is the person's name: sshd lets it in as that user alone, on machines that have one.
    """
    number = secrets.randbits(62) | 1 << 62
    serial, until = f"{number:x}", now + timedelta(hours=hours)
    term = int((now - SKEW).timestamp()), int(until.timestamp())
    fields = CertificateFields(USER, number, f"{person}.{serial}", (person,), term, (b"permit-pty",))
    return Certificate(serial, f"{_certificate(key, public, fields, os.urandom(NONCE_BYTES))} {person}\n", now, until)


def issue_host(key: Ed25519PrivateKey, name: str, principals: Sequence[str], public: str) -> str:
    """The one line of a host's -cert.pub: for ever, and the same each time, so that no preview shows a change.

    `principals` are the names and addresses that clients may mean by it.
    """
    digest = hashlib.sha256(public.encode()).digest()
    fields = CertificateFields(HOST, int.from_bytes(digest[:7]), name, tuple(principals), FOR_EVER)
    return f"{_certificate(key, public, fields, digest)} {name}\n"


class CertificateFields(NamedTuple):
    """What a certificate says: of a user or of a host, its serial, whose it is, which names it is good for, when."""

    kind: int
    number: int
    whose: str
    principals: tuple[str, ...]
    term: tuple[int, int]
    extensions: tuple[bytes, ...] = ()


def _certificate(key: Ed25519PrivateKey, public: str, fields: CertificateFields, nonce: bytes) -> str:
    """Type and blob. `public` is the line of the key that is signed."""
    kind, blob = public.split()[:2]
    name, at, vendor = kind.partition("@")
    sort = f"{name}{SUFFIX}@{vendor if at else 'openssh.com'}"
    own = base64.b64decode(blob)
    body = b"".join(
        (
            _text(sort.encode()),
            _text(nonce),
            own[4 + len(kind) :],
            struct.pack(">QI", fields.number, fields.kind),
            _text(fields.whose.encode()),
            _text(b"".join(_text(one.encode()) for one in fields.principals)),
            struct.pack(">QQ", *fields.term),
            _text(b""),
            _text(b"".join(_text(one) + _text(b"") for one in fields.extensions)),
            _text(b""),
            _text(_public(key)),
        )
    )
    return f"{sort} {base64.b64encode(body + _text(_signature(key, body))).decode()}"


def revocations(key: Ed25519PrivateKey, revoked: Iterable[Revoked], number: int, now: datetime) -> str:
    """The list, signed: lines for `ssh-keygen -k`. `number` must be higher than any that was published before."""
    live = sorted(one.serial for one in revoked if one.until + LISTED > now)
    lines = [f"# list {number}", *(f"serial: 0x{serial}" for serial in live)]
    text = "\n".join(lines) + "\n"
    return text + _armoured(key, text)


def listed(text: str, authority: str) -> Listed:
    """Raises ValueError for what is no list, or not signed by the authority whose public line is given."""
    body, _, rest = text.partition(ARMOUR_BEGIN)
    blob = base64.b64decode("".join(rest.partition(ARMOUR_END)[0].split()))
    public = load_ssh_public_key(authority.encode())
    if not isinstance(public, Ed25519PublicKey):
        raise ValueError("the region's authority has no Ed25519 key")
    try:
        public.verify(blob[-64:], _signed(body))
    except InvalidSignature:
        raise ValueError("it is not signed by the region's authority") from None
    head, *lines = body.splitlines()
    return Listed(int(head.removeprefix("# list ")), frozenset(line.removeprefix("serial: 0x") for line in lines))


def _armoured(key: Ed25519PrivateKey, text: str) -> str:
    parts = (_public(key), NAMESPACE.encode(), b"", b"sha512", _signature(key, _signed(text)))
    blob = base64.b64encode(b"SSHSIG" + struct.pack(">I", 1) + b"".join(map(_text, parts))).decode()
    lines = [blob[at : at + ARMOUR_COLUMNS] for at in range(0, len(blob), ARMOUR_COLUMNS)]
    return "\n".join([ARMOUR_BEGIN, *lines, ARMOUR_END]) + "\n"


def _signed(text: str) -> bytes:
    parts = (NAMESPACE.encode(), b"", b"sha512", hashlib.sha512(text.encode()).digest())
    return b"SSHSIG" + b"".join(map(_text, parts))


def _public(key: Ed25519PrivateKey) -> bytes:
    return base64.b64decode(public_line(key).split()[1])


def _signature(key: Ed25519PrivateKey, data: bytes) -> bytes:
    return _text(b"ssh-ed25519") + _text(key.sign(data))


def _text(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data

"""Texts that look like keys or tokens. Public keys are none: a verify key is to be read by everybody."""

import base64
import binascii
import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_ssh_public_key

from fleet.azure import sizes as azure_sizes

# What it looks like → how such a thing is written.
PATTERNS = {
    "a private key": re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY"),
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    "a client secret of Entra": re.compile(r"[\w~.-]{3}\dQ~[\w~.-]{31,34}"),
    "a shared access signature": re.compile(r"\bsig=[A-Za-z0-9%+/]{20,}"),
    "a bootstrap token": re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"),
    "a JSON web token": re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\."),
}
RANDOM = "a random text"
PEM = re.compile(r"-----BEGIN ((?:[A-Z0-9]+ )*(?:PUBLIC KEY|CERTIFICATE))-----.*?-----END \1-----", re.DOTALL)
RUN = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
# Share of places where the kind of character changes: 0.3 and more in random texts, rarely 0.2 in what people write.
RESTLESS = 0.2


def secrets_in(text: str, known: Collection[str] = ()) -> Iterator[str]:
    """What in the text looks like a secret: its kind and its first letters, never the whole of it.

    `known` are random texts that are none.
    """
    for kind, form in PATTERNS.items():
        for match in form.finditer(text):
            yield f"{kind} ({match[0][:12]}…)"
    for match in RUN.finditer(PEM.sub("", text)):
        if match[0] not in known and _restless(match[0]) and not _public_key(match[0]) and not _of_azure(match[0]):
            yield f"{RANDOM} ({match[0][:6]}…)"


def _restless(run: str) -> bool:
    """Whether lower case, upper case and digits follow each other as chance has it."""
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in run if c.isalnum()]
    # A capital that begins a word is no surprise.
    changes = sum(a != b and (a, b) != ("A", "a") for a, b in pairwise(kinds))
    return len(kinds) > 1 and changes / (len(kinds) - 1) >= RESTLESS


def _of_azure(run: str) -> bool:
    """Whether it is a machine type or a family of them, whose names are as restless as chance."""
    return azure_sizes.size(run) is not None or run in azure_sizes.FAMILIES


def _public_key(run: str) -> bool:
    """In DER, or as .pub files have it: there the kind stands in the text, too, after its length (RFC 4253, 6.6)."""
    try:
        data = base64.b64decode(run, validate=True)
        kind = data[4 : 4 + int.from_bytes(data[:4], "big")]
        if kind.startswith((b"ssh-", b"ecdsa-", b"sk-")):
            load_ssh_public_key(kind + b" " + run.encode())
        else:
            load_der_public_key(data)
    except (ValueError, binascii.Error, UnsupportedAlgorithm):
        return False
    return True

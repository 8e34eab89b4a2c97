"""User-data: the boot stub with its pointer. The same for a machine's whole life, whatever its bundle becomes."""

import base64
import json
import re
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

MOST_BYTES = 4096
STUB = Path(__file__).with_name("stub.py")


def user_data(region: str, bucket: str, prefix: str, verify_key: str) -> str:
    """A script under 4 KB with no secret in it and no digest: only where the bundle lies and whose signature it bears.

    `prefix` names the bundle's objects in the bucket and its secret; `verify_key` is `public_key`'s.
    """
    pointer = json.dumps({"region": region, "bucket": bucket, "prefix": prefix, "key": verify_key})
    # Four spaces are one tab, comments stay behind: every byte counts.
    lines = [re.sub(r"^( {4})+", lambda m: "\t" * (len(m[0]) // 4), line) for line in STUB.read_text().splitlines()]
    kept = [line for n, line in enumerate(lines) if line.strip() and (n == 0 or not line.lstrip().startswith("#"))]
    text = "\n".join(kept).replace("POINTER = {}", f"POINTER = {pointer}", 1) + "\n"
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"user-data has {len(text.encode())} bytes, more than {MOST_BYTES}: shorten {STUB.name}")
    return text


def public_key(private_pem: str) -> str:
    """The verify key of an Ed25519 private key: base64 of its DER form."""
    key = load_pem_private_key(private_pem.encode(), None)
    return base64.b64encode(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()


def sign(private_pem: str, manifest: str) -> str:
    """Base64 of the manifest's Ed25519 signature; the same manifest always gives the same one."""
    key = load_pem_private_key(private_pem.encode(), None)
    assert isinstance(key, Ed25519PrivateKey)
    return base64.b64encode(key.sign(manifest.encode())).decode()

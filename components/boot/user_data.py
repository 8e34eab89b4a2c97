"""User-data: the boot stub with its pointer. The same for a machine's whole life, whatever its bundle becomes."""

import base64
import json
import re
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

MOST_BYTES = 4096
STUB = Path(__file__).with_name("stub.py")
# What differs between clouds comes into its place.
CLOUD = "# CLOUD"
COMMENT = re.compile(r"\s*(#.*)?")
TEXT = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")')


def user_data(region: str, bucket: str, prefix: str, verify_key: str, vault: str | None = None, life: str = "") -> str:
    """A script under 4 KB with no secret in it and no digest: only where the bundle lies and whose signature it bears.

    `prefix` names the bundle's objects in the bucket and its secret; `verify_key` is `public_key`'s. On Azure `bucket`
    is the storage account, and `vault` the Key Vault that has the secret; None on AWS. A vault keeps the name of what
    was deleted, so secrets of what has a `life` end in that.
    """
    place = {"region": region, "bucket": bucket, "prefix": prefix, "key": verify_key}
    if vault:
        place |= {"vault": vault, "life": life and f"/{life}"}
    pointer = json.dumps(place, separators=(",", ":"))
    own = (STUB.parent / ("azure" if vault else "aws") / STUB.name).read_text()
    before, _, after = STUB.read_text().partition(CLOUD)
    lines = f"{before}{own}{after.partition(chr(10))[2]}".splitlines()
    code = [line for n, line in enumerate(lines) if n == 0 or not COMMENT.fullmatch(line)]
    text = "\n".join(map(_shrunk, code)).replace("PLACE={}", f"PLACE={pointer}", 1) + "\n"
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"user-data has {len(text.encode())} bytes, more than {MOST_BYTES}: shorten {STUB.name}")
    return text


def _shrunk(line: str) -> str:
    """Every byte counts: four spaces are one tab, and outside of texts in quotes none stands beside a sign."""
    indent = len(line) - len(line.lstrip())
    parts = TEXT.split(line.strip())
    parts[::2] = [re.sub(r" ?([,=+:|!]+) ?", r"\1", part) for part in parts[::2]]
    return "\t" * (indent // 4) + "".join(parts)


def public_key(private_pem: str) -> str:
    """The verify key of an Ed25519 private key: base64 of its DER form."""
    key = load_pem_private_key(private_pem.encode(), None)
    return base64.b64encode(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()


def signed_object(private_pem: str, manifest: str) -> str:
    """The object `manifest.json`: a manifest's text with its signature, in one, so that both are of one version."""
    return json.dumps({"manifest": manifest, "signature": sign(private_pem, manifest)})


def sign(private_pem: str, manifest: str) -> str:
    """Base64 of the manifest's Ed25519 signature; the same manifest always gives the same one."""
    key = load_pem_private_key(private_pem.encode(), None)
    assert isinstance(key, Ed25519PrivateKey)
    return base64.b64encode(key.sign(manifest.encode())).decode()

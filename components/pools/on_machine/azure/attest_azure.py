"""Proves to the cluster which instance of a scale set this is, for attest.py.

The token holds a document that Azure's host has signed: which machine this is, and a number that we chose. The number
is made of the cluster's name and of the time, so that the document is worth nothing to another cluster, and nothing to
this one after minutes. The rest of the token is a claim: the cluster compares it with what Azure says of the machine.
"""

import base64
import hashlib
import json
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib import request

from api_azure import instance, metadata
from machine import say

PREFIX = "landbridge-azure."
DOCUMENT = "2020-09-01"
# A number is good for the window that it was made in, and for the next one: clocks may differ.
WINDOW = timedelta(minutes=5)
DIGITS = 10  # Azure takes no longer number
ISSUER = re.compile(r"CA Issuers - URI:(http://\S+)")
SECONDS, MOST_BYTES, MOST_ISSUERS = 10, 4096, 3  # as join_document.py takes them


def nonce(cluster: str, at: datetime, windows_ago: int = 0) -> str:
    """As Azure signs it: ten digits."""
    window = int(at.timestamp() // WINDOW.total_seconds()) - windows_ago
    return str(int(hashlib.sha256(f"{cluster} {window}".encode()).hexdigest(), 16))[-DIGITS:]


def made(told: Mapping[str, object]) -> str:
    """`told` are the node's settings."""
    number = nonce(str(told["cluster"]), datetime.now(UTC))
    document = str(metadata("attested/document", DOCUMENT, nonce=number)["signature"])
    name = str(instance()["compute"]["osProfile"]["computerName"]).lower()
    shown = {"pool": told["pool"], "node": name, "document": document, "issuers": issuers(document)}
    return PREFIX + base64.urlsafe_b64encode(json.dumps(shown, sort_keys=True).encode()).decode().rstrip("=")


def issuers(document: str) -> list[str]:
    """Who vouches for the document's signer, in base64: nobody must trust them, they lead to whom everybody trusts.

    The document itself names their place alone ("Azure Instance Metadata Service", "Sample 2: Validate that the VM is
    running in Azure").
    """
    signer = _openssl("pkcs7 -inform DER -print_certs", base64.b64decode(document))
    places, found = _places(signer), list[str]()
    # Of some authorities of Azure's, the world knows only the one above.
    for url in places:
        try:
            with request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310  (ISSUER takes http alone)
                made = answer.read(MOST_BYTES)
        except OSError as error:
            say(f"{url} is not to be had: {error}")
            continue
        found.append(base64.b64encode(made).decode())
        if len(found) == MOST_ISSUERS:
            break
        places += [one for one in _places(made, "-inform DER") if one not in places]
    return found


def _places(certificate: bytes, form: str = "") -> list[str]:
    """Where a certificate says that its issuer's is."""
    told = _openssl(f"x509 {form} -noout -ext authorityInfoAccess", certificate) if certificate else b""
    return ISSUER.findall(told.decode(errors="replace"))


def _openssl(words: str, data: bytes) -> bytes:
    """What it prints; nothing where it has nothing to say."""
    return subprocess.run(["openssl", *words.split()], input=data, capture_output=True, check=False).stdout

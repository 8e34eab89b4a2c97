"""The certificate by which an aggregated API is served: each pod makes its own, and tells API servers to trust it.

`python3 -m services.api_certificate --api NAME --host HOST [--once] FILE` keeps certificate and key in the file, in
PEM. The APIService has in its caBundle those of all pods, and nobody else's: there is no authority whose key could be
lost, and no Secret. The next one is told before it is used, for API servers hear of it a moment later.
"""

import argparse
import base64
import binascii
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kube_http import MERGE, Answer, Kube

from .kube import kube

APIS = "/apis/apiregistration.k8s.io/v1/apiservices"
LIFE, RENEWAL = timedelta(days=30), timedelta(days=10)
EARLY = timedelta(minutes=5)
LOOK_SECONDS, SETTLE_SECONDS, AGAIN_SECONDS = 60.0, 10.0, 5.0
# Of pods that have gone: those stay until they have run out, but no more of them.
MOST = 16


def made(host: str, now: datetime) -> bytes:
    """Certificate and key in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLY)
        .not_valid_after(now + LIFE)
        # It vouches for itself alone.
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return _pem(certificate) + private


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def own(pair: bytes) -> x509.Certificate:
    """Raises ValueError."""
    return x509.load_pem_x509_certificate(pair)


def merged(bundle: str, certificate: x509.Certificate, now: datetime) -> str:
    """What the caBundle is to be, in base64 as it is: the newest that have not run out, this one among them."""
    others = [one for one in _known(bundle) if one.not_valid_after_utc > now and one != certificate]
    newest = sorted(others, key=lambda one: one.not_valid_before_utc)[-(MOST - 1) :]
    found = sorted([*newest, certificate], key=lambda one: (one.not_valid_before_utc, one.serial_number))
    return base64.b64encode(b"".join(map(_pem, found))).decode()


def _known(bundle: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(base64.b64decode(bundle, validate=True)) if bundle else []
    except (ValueError, binascii.Error):
        # Nobody could be trusted by it.
        return []


def tell(api: Kube, name: str, pair: bytes, now: datetime) -> bool:
    """Whether it had to be told. Raises Answer, OSError."""
    path, certificate = f"{APIS}/{name}", own(pair)
    found = api.ask("GET", path)
    bundle = found["spec"].get("caBundle") or ""
    if certificate in _known(bundle):
        return False
    # Two pods may write at once: the second one is refused, and looks again.
    version = {"resourceVersion": found["metadata"]["resourceVersion"]}
    api.ask("PATCH", path, {"metadata": version, "spec": {"caBundle": merged(bundle, certificate, now)}}, MERGE)
    return True


def kept(file: Path, host: str, now: datetime) -> bytes | None:
    """What is in the file; None if nothing is there that is good for long enough."""
    try:
        pair = file.read_bytes()
        certificate = own(pair)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return None
    good = certificate.not_valid_after_utc - now > RENEWAL and host in names.get_values_for_type(x509.DNSName)
    return pair if good else None


def write(file: Path, pair: bytes) -> None:
    """As a whole or not at all. Raises OSError."""
    other = file.with_name(f".{file.name}.new")
    descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(pair)
    other.replace(file)


def look(api: Kube, name: str, host: str, file: Path) -> None:
    """Once: there is a certificate, and it is told. Raises Answer, OSError."""
    now = datetime.now(UTC)
    pair = kept(file, host, now)
    new = pair or made(host, now)
    if tell(api, name, new, now):
        say(f"{name}: its caBundle has the certificate of this pod now")
        time.sleep(SETTLE_SECONDS)
    if not pair:
        write(file, new)


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def keep(api: Kube, name: str, host: str, file: Path, *, once: bool = False) -> None:
    """For ever, or until it was told."""
    while True:
        pause = LOOK_SECONDS
        try:
            look(api, name, host, file)
            if once:
                return
        except (Answer, OSError) as error:
            say(f"{name}: {error}")
            pause = AGAIN_SECONDS
        time.sleep(pause)


def main() -> NoReturn:
    parser = argparse.ArgumentParser(prog="services.api_certificate", description=__doc__.splitlines()[0])
    parser.add_argument("--api", required=True, help="the name of the APIService")
    parser.add_argument("--host", required=True, help="the name by which API servers ask for it")
    parser.add_argument("--once", action="store_true", help="end when there is one that was told")
    parser.add_argument("file", type=Path)
    asked = parser.parse_args()
    keep(kube(), asked.api, asked.host, asked.file, once=asked.once)
    sys.exit(0)


if __name__ == "__main__":
    main()

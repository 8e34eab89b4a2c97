"""A pair of certificates for one life of the pod: the autoscaler and the service beside it trust no other.

`python3 -m services.autoscaler.certificates FOLDER` writes them. Nobody has the authority's key afterwards.
"""

import argparse
import os
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key = ec.EllipticCurvePrivateKey
HERE = "127.0.0.1"
# A pod may live for long, and gets others only when it starts anew.
LIFE = timedelta(days=3650)
USES = {"server": ExtendedKeyUsageOID.SERVER_AUTH, "client": ExtendedKeyUsageOID.CLIENT_AUTH}


def made() -> dict[str, bytes]:
    """Content by file name, in PEM."""
    authority = ec.generate_private_key(ec.SECP256R1())
    files = {"ca.crt": _pem(_certificate("authority", authority, authority))}
    for name in USES:
        key = ec.generate_private_key(ec.SECP256R1())
        files[f"{name}.crt"] = _pem(_certificate(name, key, authority))
        form = serialization.PrivateFormat.PKCS8
        files[f"{name}.key"] = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return files


def _certificate(name: str, key: Key, authority: Key) -> x509.Certificate:
    now, use = datetime.now(UTC), USES.get(name)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + LIFE)
        .add_extension(x509.BasicConstraints(ca=use is None, path_length=None), critical=True)
    )
    if use is not None:
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(IPv4Address(HERE))])
        builder = builder.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        builder = builder.add_extension(names, critical=False)
    return builder.sign(authority, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def write(folder: Path) -> None:
    """Raises OSError."""
    for name, content in made().items():
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.autoscaler.certificates", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    try:
        write(parser.parse_args().folder)
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The local cloud's own certificate authority: machines trust it, and it vouches for clouds' names in there only."""

import ipaddress
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

DAYS = 30
CERTIFICATE, KEY = "ca.crt", "ca.key"


class Authority:
    """One for all lives of a local cloud, as long as its days last. Only the folder's owner reads its key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Landbridge local cloud")])
        known = self._known()
        if known is None:
            for old in folder.iterdir():  # nobody trusts them any more
                old.unlink()
            self.key = ec.generate_private_key(ec.SECP256R1())
            self.certificate = self._signed(self.name, self.key.public_key(), authority=True, names=())
            private = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            _write(folder / KEY, private)
            # Last: who finds it finds the key.
            _write(folder / CERTIFICATE, self.certificate.public_bytes(Encoding.PEM))
        else:
            self.key, self.certificate = known

    def _known(self) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate] | None:
        """What was made before, unless its days are over."""
        try:
            certificate = x509.load_pem_x509_certificate((self.folder / CERTIFICATE).read_bytes())
            key = load_pem_private_key((self.folder / KEY).read_bytes(), None)
        except (FileNotFoundError, ValueError):
            return None
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        return (key, certificate) if datetime.now(UTC) < certificate.not_valid_after_utc else None

    def issue(self, name: str) -> Path:
        """A file with a certificate for `name` and its key, made when first asked for."""
        file = self.folder / f"{name.replace('*', '_')}.pem"
        if file.exists():
            return file
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
        made = self._signed(subject, key.public_key(), authority=False, names=(name,))
        text = made.public_bytes(Encoding.PEM) + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        _write(file, text)
        return file

    def below(self, name: str, key: rsa.RSAPublicKey) -> x509.Certificate:
        """The certificate of another authority, for which this one vouches."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._signed(subject, key, authority=True, names=())

    def _until(self, now: datetime) -> datetime:
        """What it vouches for ends with it."""
        own = getattr(self, "certificate", None)
        return own.not_valid_after_utc if own else now + timedelta(days=DAYS)

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey,
        *,
        authority: bool,
        names: tuple[str, ...],
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(self._until(now))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if authority:
            usage = x509.KeyUsage(
                digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
                key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
            )  # fmt: skip
            builder = builder.add_extension(usage, critical=True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_name(n) for n in names]), critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _write(file: Path, data: bytes) -> None:
    """In one step, for its owner's eyes. Threads may write the same file."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
    draft.touch(mode=0o600)
    draft.write_bytes(data)
    draft.replace(file)


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)

"""The local cloud's own certificate authority: machines trust it, and it vouches for clouds' names in there only."""

import ipaddress
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

DAYS = 30


class Authority:
    """A new one for each life of the local cloud. Its key never leaves this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        for old in folder.iterdir():  # of the life before: nobody trusts its authority any more
            old.unlink()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Landbridge local cloud")])
        self.certificate = self._signed(self.name, self.key.public_key(), authority=True, names=())
        draft = folder / "ca.crt.new"
        draft.write_bytes(self.certificate.public_bytes(Encoding.PEM))
        draft.replace(folder / "ca.crt")

    def issue(self, name: str) -> Path:
        """A file with a certificate for `name` and its key, made when first asked for."""
        file = self.folder / f"{name.replace('*', '_')}.pem"
        if file.exists():
            return file
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
        made = self._signed(subject, key.public_key(), authority=False, names=(name,))
        text = made.public_bytes(Encoding.PEM) + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        draft = file.with_suffix(f".{os.getpid()}.{id(key)}")
        draft.touch(mode=0o600)
        draft.write_bytes(text)
        draft.replace(file)
        return file

    def below(self, name: str, key: rsa.RSAPublicKey) -> x509.Certificate:
        """The certificate of another authority, for which this one vouches."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._signed(subject, key, authority=True, names=())

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
            .not_valid_after(now + timedelta(days=DAYS))
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
            builder = builder.add_extension(x509.SubjectAlternativeName([_known(n) for n in names]), critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _known(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)

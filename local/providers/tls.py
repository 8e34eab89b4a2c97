"""The `tls` plugin: keys, requests and certificates, made with `cryptography`."""

import datetime
import hashlib
import ipaddress
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .codec import Properties
from .servicer import ProviderError
from .values import Value, Values

CURVES: dict[str, Callable[[], Any]] = {
    "P224": ec.SECP224R1,
    "P256": ec.SECP256R1,
    "P384": ec.SECP384R1,
    "P521": ec.SECP521R1,
}
SUBJECT = {
    "commonName": NameOID.COMMON_NAME,
    "organization": NameOID.ORGANIZATION_NAME,
    "organizationalUnit": NameOID.ORGANIZATIONAL_UNIT_NAME,
    "country": NameOID.COUNTRY_NAME,
    "locality": NameOID.LOCALITY_NAME,
    "province": NameOID.STATE_OR_PROVINCE_NAME,
    "postalCode": NameOID.POSTAL_CODE,
    "serialNumber": NameOID.SERIAL_NUMBER,
}
KEY_USAGES = {
    "digital_signature": "digital_signature",
    "content_commitment": "content_commitment",
    "key_encipherment": "key_encipherment",
    "data_encipherment": "data_encipherment",
    "key_agreement": "key_agreement",
    "cert_signing": "key_cert_sign",
    "crl_signing": "crl_sign",
    "encipher_only": "encipher_only",
    "decipher_only": "decipher_only",
}
EXTENDED_USAGES = {
    "any_extended": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "server_auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "client_auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "code_signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email_protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp_signing": ExtendedKeyUsageOID.OCSP_SIGNING,
}


def _new_key(inputs: Properties) -> Any:
    algorithm = inputs["algorithm"]
    makers: dict[str, Callable[[], Any]] = {
        "RSA": lambda: rsa.generate_private_key(65537, int(inputs["rsaBits"])),
        "ECDSA": lambda: ec.generate_private_key(CURVES[inputs["ecdsaCurve"]]()),
        "ED25519": ed25519.Ed25519PrivateKey.generate,
    }
    if algorithm not in makers:
        raise ProviderError(f"algorithm {algorithm!r} is none of {', '.join(makers)}")
    if algorithm == "ECDSA" and inputs["ecdsaCurve"] not in CURVES:
        raise ProviderError(f"ecdsaCurve {inputs['ecdsaCurve']!r} is none of {', '.join(CURVES)}")
    return makers[algorithm]()


def _private_pem(key: Any, form: Any) -> str:
    pem: bytes = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return pem.decode()


def _public(key: Any) -> Properties:
    public = key.public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    outputs = {"publicKeyPem": pem, "publicKeyOpenssh": "", "publicKeyFingerprintSha256": ""}
    if not (
        isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP224R1)
    ):  # OpenSSH has no P-224
        ssh = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()
        import base64

        raw = base64.b64decode(ssh.split()[1])
        digest = base64.b64encode(hashlib.sha256(raw).digest()).decode().rstrip("=")
        outputs |= {"publicKeyOpenssh": f"{ssh}\n", "publicKeyFingerprintSha256": f"SHA256:{digest}"}
        outputs["publicKeyFingerprintMd5"] = ":".join(
            f"{byte:02x}" for byte in hashlib.md5(raw, usedforsecurity=False).digest()
        )
    return outputs


def _private_key(inputs: Properties) -> tuple[str, Properties]:
    key = _new_key(inputs)
    forms = serialization.PrivateFormat
    traditional = forms.PKCS8 if inputs["algorithm"] == "ED25519" else forms.TraditionalOpenSSL
    outputs = {
        **_public(key),
        "privateKeyPem": _private_pem(key, traditional),
        "privateKeyPemPkcs8": _private_pem(key, forms.PKCS8),
        "privateKeyOpenssh": "" if not outputs_ssh(key) else _private_pem(key, forms.OpenSSH),
    }
    return hashlib.sha1(outputs["publicKeyPem"].encode(), usedforsecurity=False).hexdigest(), outputs


def outputs_ssh(key: Any) -> bool:
    """Whether OpenSSH has this kind of key."""
    return not (isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP224R1))


def _load_key(pem: str) -> Any:
    try:
        return serialization.load_pem_private_key(pem.encode(), None)
    except ValueError:
        raise ProviderError("the private key is not PEM that can be read") from None


def _algorithm(key: Any) -> str:
    return (
        {"R": "RSA", "E": "ECDSA"}.get(type(key).__name__[0:1], "ED25519")
        if "25519" not in type(key).__name__
        else "ED25519"
    )


def _name(inputs: Properties) -> x509.Name:
    subject = inputs.get("subject") or {}
    attributes = [x509.NameAttribute(oid, str(subject[name])) for name, oid in SUBJECT.items() if subject.get(name)]
    attributes += [x509.NameAttribute(NameOID.STREET_ADDRESS, line) for line in subject.get("streetAddresses") or []]
    return x509.Name(attributes)


def _alternatives(inputs: Properties) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in inputs.get("dnsNames") or []]
    names += [x509.IPAddress(ipaddress.ip_address(address)) for address in inputs.get("ipAddresses") or []]
    return names + [x509.UniformResourceIdentifier(uri) for uri in inputs.get("uris") or []]


def _digest(key: Any) -> Any:
    return None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()


def _request(inputs: Properties) -> tuple[str, Properties]:
    key = _load_key(inputs["privateKeyPem"])
    builder = x509.CertificateSigningRequestBuilder().subject_name(_name(inputs))
    if names := _alternatives(inputs):
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    pem = builder.sign(key, _digest(key)).public_bytes(serialization.Encoding.PEM).decode()
    return hashlib.sha1(pem.encode(), usedforsecurity=False).hexdigest(), {
        "certRequestPem": pem,
        "keyAlgorithm": _algorithm(key),
    }


def _certificate(
    inputs: Properties, subject: x509.Name, public_key: Any, names: list[x509.GeneralName], issuer: Any, signer: Any
) -> tuple[str, Properties]:
    start = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    end = start + datetime.timedelta(hours=inputs["validityPeriodHours"])
    unknown = set(inputs["allowedUses"]) - KEY_USAGES.keys() - EXTENDED_USAGES.keys()
    if unknown:
        raise ProviderError(f"allowedUses {', '.join(sorted(unknown))} not known")
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(bool(inputs.get("isCaCertificate")), None), critical=True)
    )
    if used := {KEY_USAGES[use] for use in inputs["allowedUses"] if use in KEY_USAGES}:
        builder = builder.add_extension(
            x509.KeyUsage(**{name: name in used for name in KEY_USAGES.values()}), critical=True
        )
    if extended := [EXTENDED_USAGES[use] for use in inputs["allowedUses"] if use in EXTENDED_USAGES]:
        builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if inputs.get("setSubjectKeyId") or inputs.get("isCaCertificate"):
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    if inputs.get("setAuthorityKeyId") or issuer:
        key_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        builder = builder.add_extension(key_id, critical=False)
    certificate = builder.sign(signer, _digest(signer))
    return str(certificate.serial_number), {
        "certPem": certificate.public_bytes(serialization.Encoding.PEM).decode(),
        "validityStartTime": start.isoformat(),
        "validityEndTime": end.isoformat(),
        "readyForRenewal": False,
        "keyAlgorithm": _algorithm(signer),
    }


def _self_signed(inputs: Properties) -> tuple[str, Properties]:
    key = _load_key(inputs["privateKeyPem"])
    return _certificate(inputs, _name(inputs), key.public_key(), _alternatives(inputs), None, key)


def _locally_signed(inputs: Properties) -> tuple[str, Properties]:
    try:
        request = x509.load_pem_x509_csr(inputs["certRequestPem"].encode())
        issuer = x509.load_pem_x509_certificate(inputs["caCertPem"].encode())
    except ValueError:
        raise ProviderError("certRequestPem or caCertPem is not PEM that can be read") from None
    if not request.is_signature_valid:
        raise ProviderError("the request's signature is not its key's")
    signer = _load_key(inputs["caPrivateKeyPem"])
    if signer.public_key() != issuer.public_key():
        raise ProviderError("caPrivateKeyPem is not the key of caCertPem")
    names = [
        name for ext in request.extensions if isinstance(ext.value, x509.SubjectAlternativeName) for name in ext.value
    ]
    id_, outputs = _certificate(inputs, request.subject, request.public_key(), names, issuer, signer)
    return id_, {**outputs, "caKeyAlgorithm": outputs.pop("keyAlgorithm")}


def _due(state: Properties) -> bool:
    """Inside the hours before its end in which the program wants a new one, or past the end."""
    end = datetime.datetime.fromisoformat(state["validityEndTime"])
    early = datetime.timedelta(hours=state.get("earlyRenewalHours") or 0)
    return datetime.datetime.now(datetime.UTC) >= end - early


_RENEWED = frozenset({"earlyRenewalHours"})


class Tls(Values):
    """Keys and certificates. As with the real provider, a certificate due for renewal is gone at the next refresh."""

    package = "tls"
    table: ClassVar[Mapping[str, Value]] = {
        "tls:index/privateKey:PrivateKey": Value(_private_key, {"rsaBits": 2048, "ecdsaCurve": "P224"}),
        "tls:index/certRequest:CertRequest": Value(_request, {}),
        "tls:index/selfSignedCert:SelfSignedCert": Value(_self_signed, {"earlyRenewalHours": 0}, _RENEWED, _due),
        "tls:index/locallySignedCert:LocallySignedCert": Value(
            _locally_signed, {"earlyRenewalHours": 0}, _RENEWED, _due
        ),
    }

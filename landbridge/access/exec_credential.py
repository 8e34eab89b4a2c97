"""What kubectl is given when it asks for a credential, in Kubernetes' own form, and who gives it.

What opens an API is a certificate with its key, or a token; where that comes from is `issue` alone.
"""

import json
from datetime import UTC, datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from landbridge.cluster.kubeconfig import Credential
from landbridge.cluster.session import Session

from . import people

API = "client.authentication.k8s.io/v1"
# Short: whoever finds a kept one has it for no longer, and the next is made unasked.
HOURS = 1.0


class Issued(NamedTuple):
    """PEM of a certificate and its key, or a token; `expires` with a time zone."""

    expires: datetime
    crt: str = ""
    key: str = ""
    token: str = ""


def document(issued: Issued) -> str:
    """As kubectl and every client library read it."""
    status = {"expirationTimestamp": issued.expires.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
    if issued.token:
        status["token"] = issued.token
    else:
        status |= {"clientCertificateData": issued.crt, "clientKeyData": issued.key}
    return json.dumps({"apiVersion": API, "kind": "ExecCredential", "status": status})


def issue(session: Session, person: str | None) -> Issued:
    """For someone of the fleet, or without a name for the administrator. Raises UsageError and LandbridgeError."""
    if person is None:
        return of_administrator(session)
    credential, expires = people.grant(session.admin, session.world.fleet, person, HOURS)
    return Issued(expires, credential.crt, credential.key)


def of_administrator(session: Session) -> Issued:
    """A certificate of an hour with the administrator's subject: that of a year stays in the secrets manager."""
    from landbridge.cluster import kubeconfig

    return in_place_of(session, kubeconfig.admin(session.cloud, session.info))


def in_place_of(session: Session, stored: Credential) -> Issued:
    subject = x509.load_pem_x509_certificate(stored.crt.encode()).subject
    key = ec.generate_private_key(ec.SECP256R1())
    wanted = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, SHA256())
    crt = people.sign(session.admin, stored.user, wanted.public_bytes(Encoding.PEM), HOURS)
    expires = x509.load_pem_x509_certificate(crt.encode()).not_valid_after_utc
    return Issued(expires, crt, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())

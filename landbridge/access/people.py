"""People's access: short-lived certificates by name, and the bindings that make them worth something."""

import base64
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from fleet.model import Fleet
from fleet.people import group
from landbridge.cluster.kube import Kube
from landbridge.cluster.kubeconfig import Credential
from landbridge.errors import LandbridgeError, UsageError
from landbridge.waiting import until

from . import rbac

SIGNER = "kubernetes.io/kube-apiserver-client"
HOURS, MOST_HOURS = 8, 24 * 7  # the controllers sign for no longer than a week
SIGNED_SECONDS = 30.0
BINDINGS = "clusterrolebindings,rolebindings"


@dataclass(frozen=True)
class Access:
    """One person. `expires` is when the last certificate ends; `bound` whether any certificate is worth anything."""

    person: str
    team: str
    bound: bool
    expires: datetime | None
    rights: tuple[str, ...]
    known: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def listed(kube: Kube, fleet: Fleet) -> list[Access]:
    """Everybody in the fleet file, and whoever is bound without standing there."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in fleet.people}
    for binding in kube.get(BINDINGS, "--all-namespaces", f"--selector={rbac.PERSON}")["items"]:
        found.setdefault(binding["metadata"]["labels"][rbac.PERSON], []).append(binding)
    return [one(fleet, name, bindings) for name, bindings in sorted(found.items())]


def one(fleet: Fleet, name: str, bindings: list[dict[str, Any]]) -> Access:
    ends = [binding["metadata"].get("annotations", {}).get(rbac.EXPIRES) for binding in bindings]
    rights = sorted(
        f"{b['roleRef']['name']} in {b['metadata'].get('namespace', 'the whole cluster')}" for b in bindings
    )
    known = fleet.people.get(name)
    labelled = [binding["metadata"]["labels"].get(rbac.TEAM, "") for binding in bindings]
    return Access(
        name,
        known.team if known else next(iter(labelled), ""),
        bool(bindings),
        max((datetime.fromisoformat(end) for end in ends if end), default=None),
        tuple(rights),
        known is not None,
    )


def grant(kube: Kube, fleet: Fleet, person: str, hours: float) -> tuple[Credential, datetime]:
    """A certificate for a person of the fleet, and their bindings. The key is made here and goes nowhere."""
    check(fleet, person, hours)
    key = ec.generate_private_key(ec.SECP256R1())
    signed = sign(kube, person, request(key, person, fleet.people[person].team), hours)
    expires = x509.load_pem_x509_certificate(signed.encode()).not_valid_after_utc
    wanted = rbac.person(fleet, person, expires.isoformat())
    kube.apply(wanted)
    drop_others(kube, person, wanted)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Credential(person, signed, pem), expires


def check(fleet: Fleet, person: str, hours: float) -> None:
    """Raises UsageError."""
    if person not in fleet.people:
        known = ", ".join(fleet.people) or "nobody"
        raise UsageError(
            f"{person} is nobody of the fleet: fleet.yaml has {known} under people. Add them there, with a team."
        )
    if not 1 / 6 <= hours <= MOST_HOURS:
        raise UsageError(f"--hours {hours:g}: a certificate is good for 10 minutes to {MOST_HOURS} hours.")


def request(key: ec.EllipticCurvePrivateKey, person: str, team: str) -> bytes:
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, group(team)),
            x509.NameAttribute(NameOID.COMMON_NAME, person),
        ]
    )
    return x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, SHA256()).public_bytes(Encoding.PEM)


def sign(kube: Kube, person: str, wanted: bytes, hours: float) -> str:
    """The certificate, signed by the cluster itself and approved with the rights of `kube`."""
    name = f"landbridge-{person}-{secrets.token_hex(4)}"
    spec = {
        "request": base64.b64encode(wanted).decode(),
        "signerName": SIGNER,
        "expirationSeconds": int(timedelta(hours=hours).total_seconds()),
        "usages": ["digital signature", "client auth"],
    }
    meta = {"name": name, "labels": {**rbac.MANAGED, rbac.PERSON: person}}
    manifest = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": meta,
        "spec": spec,
    }
    kube.done("create", "--filename=-", stdin=json.dumps(manifest))
    kube.done("certificate", "approve", name)

    def unsigned(why: str) -> LandbridgeError:
        return LandbridgeError(
            f"The cluster did not sign a certificate for {person}: {why}. The controller manager signs them: look "
            f"into the log of its unit kube-controller-manager on the API machines. The request is {name}."
        )

    def signed() -> str:
        status = kube.get("certificatesigningrequest", name).get("status", {})
        if failed := [c["message"] for c in status.get("conditions", ()) if c["type"] in ("Failed", "Denied")]:
            raise unsigned("; ".join(failed))
        return base64.b64decode(status.get("certificate") or "").decode()

    late = f"there is no certificate after {SIGNED_SECONDS:.0f} s"
    return until(signed, SIGNED_SECONDS, 0.2, lambda _: unsigned(late))


def drop_others(kube: Kube, person: str, wanted: list[rbac.Manifest]) -> None:
    """Bindings of a team that the person has left."""
    wanted_keys = {(m["kind"], m["metadata"].get("namespace"), m["metadata"]["name"]) for m in wanted}
    for binding in bindings_of(kube, person):
        meta = binding["metadata"]
        if (binding["kind"], meta.get("namespace"), meta["name"]) not in wanted_keys:
            delete(kube, binding)


def remove(kube: Kube, person: str) -> int:
    """Takes a person's bindings away: from now on no certificate of theirs may do anything. Gives how many."""
    found = bindings_of(kube, person)
    for binding in found:
        delete(kube, binding)
    return len(found)


def bindings_of(kube: Kube, person: str) -> list[dict[str, Any]]:
    items = kube.get(BINDINGS, "--all-namespaces", f"--selector={rbac.PERSON}={person}")["items"]
    return list(items)


def delete(kube: Kube, binding: dict[str, Any]) -> None:
    meta = binding["metadata"]
    where = (f"--namespace={meta['namespace']}",) if "namespace" in meta else ()
    kube.done("delete", binding["kind"].lower(), meta["name"], "--ignore-not-found", *where)


def left(expires: datetime) -> str:
    minutes = int((expires - datetime.now(UTC)).total_seconds() // 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"

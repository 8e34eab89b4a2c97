"""What tests of joining share: the scripts as modules, requests as kubelets make them, the example's settings."""

import base64
import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ROOT = Path(__file__).parents[3]
ACCOUNT, CLUSTER = "123456789012", "example/main"
WEST, EAST = "us-west-2", "us-east-1"
ROLES = {"example-west-gpu-node": "west-gpu", "example-system-node": "system", "example-east-gpu-node": "east-gpu"}
SETTINGS: dict[str, Any] = {
    "machine": "main-api-1",
    "cluster": CLUSTER,
    "account": ACCOUNT,
    "seconds": {"gone": 120, "pass": 60, "gpu": 900},
}
TABLE: dict[str, Any] = {
    "regions": {WEST: ["example-system", "example-west-gpu"], EAST: ["example-east-gpu"]},
    "roles": ROLES,
    "lans": {"lab": "10.129.0.0/22"},
    "pools": {
        "west-gpu": {"place": WEST, "site": False, "groups": ["example-west-gpu"], "hosts": {}, "gpus": 8},
        "system": {"place": WEST, "site": False, "groups": ["example-system"], "hosts": {}, "gpus": 0},
        "east-gpu": {"place": EAST, "site": False, "groups": ["example-east-gpu"], "hosts": {}, "gpus": 8},
        "site-gpu": {
            "place": "lab",
            "site": True,
            "groups": [],
            "hosts": {"host-1": "10.129.0.11", "host-2": ""},
            "gpus": 8,
        },
    },
}
CLIENT, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
USES = {CLIENT: ["digital signature", "client auth"], SERVING: ["digital signature", "server auth"]}


def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def key_pem(made: ec.EllipticCurvePrivateKey) -> str:
    return made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def request(
    names: Sequence[tuple[Any, str]] | str,
    dns: Sequence[str] = (),
    addresses: Sequence[str] = (),
    made: ec.EllipticCurvePrivateKey | None = None,
    others: Sequence[x509.GeneralName] = (),
    extension: x509.ExtensionType | None = None,
) -> str:
    """PEM. `names` is a node's name, or its subject's parts."""
    if isinstance(names, str):
        names = [(NameOID.ORGANIZATION_NAME, "system:nodes"), (NameOID.COMMON_NAME, f"system:node:{names}")]
    subject = x509.Name([x509.NameAttribute(kind, text) for kind, text in names])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    wished = [x509.DNSName(n) for n in dns] + [x509.IPAddress(ipaddress.ip_address(a)) for a in addresses] + [*others]
    if wished:
        builder = builder.add_extension(x509.SubjectAlternativeName(wished), critical=False)
    if extension:
        builder = builder.add_extension(extension, critical=True)
    return builder.sign(made or key(), hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def encoded(pem: str) -> str:
    return base64.b64encode(pem.encode()).decode()


def wish(pem: str, signer: str = CLIENT, uses: Sequence[str] | None = None, **who: Any) -> dict[str, Any]:
    """A CertificateSigningRequest's spec, with whoever made it."""
    return {"request": encoded(pem), "signerName": signer, "usages": list(uses or USES[signer]), **who}


def attested(pool: str, instance: str) -> dict[str, Any]:
    return {
        "username": f"system:bootstrappers:landbridge:{pool}:{instance}",
        "groups": ["system:bootstrappers", "landbridge:joining", "system:authenticated"],
        "extra": {"landbridge.dev/pool": [pool], "landbridge.dev/instance": [instance]},
    }


def enrolled(site: str, host: str) -> dict[str, Any]:
    groups = ["system:bootstrappers", f"system:bootstrappers:landbridge:{site}:{host}", "system:authenticated"]
    return {"username": "system:bootstrap:abc123", "groups": groups}


def node(name: str) -> dict[str, Any]:
    return {"username": f"system:node:{name}", "groups": ["system:nodes", "system:authenticated"]}


# Run inside a namespace where machines are: the bed of a cluster at their API's address.
AMONG_MACHINES = """
from itertools import chain, count
from tests.components.pools import joining_cluster as bed
network.hold(api)
ports = chain([6443], count(20000))
bed.BIND, bed.free_port = "0.0.0.0", lambda: next(ports)
bed.kept = bed.make(Path(folder))
bed.cluster = next(bed.kept)
"""
# Hosts that the bed's table of pools knows.
HOSTS = {"host-1": "10.129.0.11", "host-2": "10.129.0.12"}

"""What hosts of one run prove themselves by to each other: made with the run, in a Secret that goes with it."""

import secrets
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from components.addons.manifests import MANAGED

FOLDER, PORT = "/run/landbridge/ssh", 2222
# Of its Valkey.
REDIS = "redis"
# By this name all hosts of the run show one key.
ALIAS = "run"
SSH = ("key", "authorized_keys", "host_key", "known_hosts")
# ssh refuses a key that others may read.
MODE = 0o400


def source(run: str) -> dict[str, Any]:
    """Of a volume."""
    items = [{"key": name, "path": name} for name in SSH]
    return {"secret": {"secretName": secret_name(run), "defaultMode": MODE, "items": items}}


def password(run: str) -> dict[str, Any]:
    """Where a variable takes it from."""
    return {"secretKeyRef": {"name": secret_name(run), "key": REDIS}}


def secret_name(run: str) -> str:
    return f"{run}-keys"


def secret(run: str, namespace: str) -> dict[str, Any]:
    """It is there before the run is; `owned` says what makes it go with it."""
    (key, public), (host, host_public) = _pair(), _pair()
    ssh = dict(zip(SSH, (key, f"{public}\n", host, f"{ALIAS} {host_public}\n"), strict=True))
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_name(run), "namespace": namespace, "labels": MANAGED},
        "stringData": {REDIS: secrets.token_urlsafe(24), **ssh},
    }


def owned(job_set: Mapping[str, Any]) -> dict[str, Any]:
    """A patch of the Secret; `job_set` is as the API has it."""
    meta = job_set["metadata"]
    owner = {"apiVersion": job_set["apiVersion"], "kind": job_set["kind"], "name": meta["name"], "uid": meta["uid"]}
    return {"metadata": {"ownerReferences": [owner]}}


def _pair() -> tuple[str, str]:
    made = Ed25519PrivateKey.generate()
    private = made.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    return private, made.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()

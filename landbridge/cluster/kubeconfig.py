"""Kubeconfigs: what stands in one, where its credential comes from, and how it is written."""

import json
import os
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from components.control_plane import kubeconfig as kubeconfigs
from components.control_plane.machines import API_PORT
from landbridge.errors import LandbridgeError, UsageError

from .info import ClusterInfo, MachineInfo

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700


class Secrets(Protocol):
    """As much of a cloud (clouds/cloud.py) as credentials need."""

    def secret(self, name: str) -> str: ...


class Credential(NamedTuple):
    """A client certificate and its key, PEM."""

    user: str
    crt: str
    key: str


def kubeconfig(info: ClusterInfo, credential: Credential, machine: MachineInfo | None = None) -> str:
    """For kubectl and every client library. With `machine` straight to that one's address, past DNS and balancer."""
    where = {"server": info.endpoint}
    if machine is not None:
        where = {
            "server": f"https://{machine.address}:{API_PORT}",
            "tls-server-name": str(urlsplit(info.endpoint).hostname),
        }
    name = f"{info.fleet}-{info.name}"
    return kubeconfigs.kubeconfig(name, credential.user, where, info.authority, credential.crt, credential.key)


def admin(cloud: Secrets, info: ClusterInfo) -> Credential:
    return stored_credential(cloud, info.admin_secret, "landbridge-admin")


def break_glass(cloud: Secrets, info: ClusterInfo) -> Credential:
    """That of system:masters, which no RBAC can take away. Whoever reads it is in the secrets manager's log."""
    return stored_credential(cloud, info.break_glass_secret, "break-glass")


def stored_credential(cloud: Secrets, secret: str, user: str) -> Credential:
    """A credential out of the cloud's secrets manager. Raises LandbridgeError."""
    try:
        text = cloud.secret(secret)
    except LandbridgeError as error:
        raise LandbridgeError(f"{error}; when it is not there, bring the cluster's stack up.") from None
    try:
        record = json.loads(text)
        return Credential(user, record["crt"], record["key"])
    except (ValueError, KeyError, TypeError) as error:
        raise LandbridgeError(
            f"The secret {secret} holds no credential ({type(error).__name__}: {error}): it was changed by hand. "
            "`landbridge up --refresh` of the cluster's stack writes it anew."
        ) from None


def write(path: Path, text: str) -> None:
    """Writes a file that only its owner may read, in one step. Raises UsageError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}. Name another file with --output.") from None


def private_folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(PRIVATE_FOLDER)
    return path

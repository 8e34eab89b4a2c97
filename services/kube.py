"""The Kubernetes API as a pod's own service account."""

import os
from pathlib import Path
from typing import TypeVar

from kube_http import SECONDS, Kube

Client = TypeVar("Client", bound=Kube)
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
HOST, PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"


def kube(account: Path = ACCOUNT, seconds: float = SECONDS) -> Kube:
    """`account` is the folder with the token, which is renewed there, and the API's authority."""
    return as_account(Kube, account, seconds)


def as_account(kind: type[Client], account: Path = ACCOUNT, seconds: float = SECONDS) -> Client:
    """The same as another kind of client.

    No line waits between calls: seconds lie between them, and behind the service's address servers come and go.
    """
    server = f"https://{os.environ.get(HOST, 'kubernetes.default.svc')}:{os.environ.get(PORT, '443')}"
    token = account / "token"
    authority = str(account / "ca.crt")
    return kind(server, authority, token=lambda: token.read_text().strip(), seconds=seconds, most_waiting=0)

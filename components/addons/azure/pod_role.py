"""What a pod of ours needs to be heard by Azure: a token that is meant for Entra, and whose identity it is for.

The identity's number is Azure's own and known only when it is made; the stack lays it into a ConfigMap beside the pod.
"""

from typing import Any

from fleet import issuers
from fleet.model import Fleet

from ..manifests import Manifest
from ..pod_tokens import SECONDS

# Whom Entra takes a foreign token for ("Workload identity federation").
AUDIENCE = "api://AzureADTokenExchange"
AUTHORITY = "https://login.microsoftonline.com/"
VOLUME, FOLDER, FILE = "azure", "/var/run/secrets/landbridge.dev/azure", "token"
CLIENT_ID = "client-id"


def federated(fleet: Fleet, cluster: str, subject: str) -> dict[str, Any]:
    """Whose tokens an identity takes: those that the cluster gives to a service account."""
    return {"issuer": issuers.url(fleet, cluster), "subject": subject, "audiences": [AUDIENCE]}


def identity(addon: str) -> str:
    """A ConfigMap of the cluster's, with the client id of the add-on's identity."""
    return f"{addon}-identity"


def volume(addon: str) -> Manifest:
    token = {"audience": AUDIENCE, "expirationSeconds": SECONDS, "path": FILE}
    named = {"name": identity(addon), "items": [{"key": CLIENT_ID, "path": CLIENT_ID}]}
    return {"name": VOLUME, "projected": {"sources": [{"serviceAccountToken": token}, {"configMap": named}]}}


def arguments() -> list[str]:
    """By the file it hears that the identity was made anew; a container's environment stays what it was."""
    return [f"--identity={FOLDER}/{CLIENT_ID}"]


def mount() -> Manifest:
    return {"name": VOLUME, "mountPath": FOLDER, "readOnly": True}


def variables(fleet: Fleet, addon: str) -> list[Manifest]:
    known = {"configMapKeyRef": {"name": identity(addon), "key": CLIENT_ID}}
    return [
        *({"name": name, "value": value} for name, value in environment(fleet, f"{FOLDER}/{FILE}").items()),
        {"name": "AZURE_CLIENT_ID", "valueFrom": known},
    ]


def environment(fleet: Fleet, token: str) -> dict[str, str]:
    """As azure-identity reads it (WorkloadIdentityCredential), but for the identity's number; `token` is a file."""
    assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    return {
        "AZURE_AUTHORITY_HOST": AUTHORITY,
        "AZURE_TENANT_ID": fleet.azure.tenant_id,
        "AZURE_FEDERATED_TOKEN_FILE": token,
    }

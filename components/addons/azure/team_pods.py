"""Pods that have their team's identity in Azure: those that name the service account `storage`, as in aws/team_pods.py.

Admission gives them a second token, which is meant for Entra, and the variables by which every client of Azure takes an
identity for it. The identity's number is Azure's own; the stack lays it into a ConfigMap of the team's namespace.
"""

from fleet import team_storage

from ..admission import policy, texts
from ..aws import team_pods as aws_team_pods
from ..aws.team_pods import KINDS, PODS
from ..aws.team_roles import TOKEN_SECONDS
from ..manifests import Manifest
from ..spec import AddOnsSpec
from .autoscaler import AUDIENCE, AUTHORITY
from .team_roles import regions

ADDON = "team-identities"
VOLUME, FOLDER, FILE = "landbridge-identity", "/var/run/secrets/landbridge.dev/identity", "token"
# A ConfigMap of the team's namespace, with the identity's client id.
IDENTITY, CLIENT_ID = "storage-identity", "client-id"
CLIENT = "AZURE_CLIENT_ID"


def wanted(spec: AddOnsSpec) -> bool:
    return bool(regions(spec.fleet, spec.cluster.name))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    """The service accounts are those of AWS, where the fleet has that, too."""
    own = (
        [] if aws_team_pods.wanted(spec) else [aws_team_pods.account(team, ADDON) for team in sorted(spec.fleet.teams)]
    )
    return [*own, *injection(spec)]


def variables(spec: AddOnsSpec) -> dict[str, str]:
    """What every pod has alike, by name (azure-identity, WorkloadIdentityCredential); `CLIENT` is its team's."""
    assert spec.fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    return {
        "AZURE_AUTHORITY_HOST": AUTHORITY,
        "AZURE_TENANT_ID": spec.fleet.azure.tenant_id,
        "AZURE_FEDERATED_TOKEN_FILE": f"{FOLDER}/{FILE}",
    }


def injection(spec: AddOnsSpec) -> list[Manifest]:
    """What a container says itself stays."""
    spaces = tuple(team_storage.namespace(team) for team in sorted(spec.fleet.teams))
    conditions = aws_team_pods.conditions(texts(spaces), VOLUME)
    values = {name: f"value: '{value}'" for name, value in variables(spec).items()}
    values[CLIENT] = (
        "valueFrom: {of}.valueFrom{configMapKeyRef: {of}.valueFrom.configMapKeyRef"
        f"{{name: '{IDENTITY}', key: '{CLIENT_ID}'}}}}"
    )
    token = aws_team_pods.Token(VOLUME, FOLDER, AUDIENCE, TOKEN_SECONDS, FILE)
    parts = [
        *aws_team_pods.volume(token),
        *(part for kind in KINDS for part in aws_team_pods.containers(kind, values, token)),
    ]
    return policy(ADDON, "landbridge-team-identities", PODS, conditions, {}, " + ".join(parts))

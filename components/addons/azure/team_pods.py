"""Pods that have their team's identity in Azure: those that name the service account `storage`, as in aws/team_pods.py.

Admission gives them a second token, which is meant for Entra, and the variables by which every client of Azure takes an
identity for it. The identity's number is Azure's own; the stack lays it into a ConfigMap of the team's namespace.
"""

from ..aws import team_pods as aws_team_pods
from ..manifests import Manifest
from ..pod_tokens import Token, account
from ..pod_tokens import injection as injected
from ..spec import AddOnsSpec
from .pod_role import AUDIENCE, environment
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
    own = [] if aws_team_pods.wanted(spec) else [account(team, ADDON) for team in sorted(spec.fleet.teams)]
    return [*own, *injection(spec)]


def variables(spec: AddOnsSpec) -> dict[str, str]:
    """What every pod has alike, by name; `CLIENT` is its team's."""
    return environment(spec.fleet, f"{FOLDER}/{FILE}")


def injection(spec: AddOnsSpec) -> list[Manifest]:
    values = {name: f"value: '{value}'" for name, value in variables(spec).items()}
    values[CLIENT] = (
        "valueFrom: {of}.valueFrom{configMapKeyRef: {of}.valueFrom.configMapKeyRef"
        f"{{name: '{IDENTITY}', key: '{CLIENT_ID}'}}}}"
    )
    token = Token(VOLUME, FOLDER, AUDIENCE, FILE)
    return injected(spec.fleet, ADDON, "landbridge-team-identities", token, values, {})

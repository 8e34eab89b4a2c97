"""Teams' namespaces: what pods in them may be, and that none of them asks a cloud who its machine is.

The namespaces themselves are older than this: `landbridge up` makes them with the cluster. Here they get labels.
"""

from collections.abc import Iterator

from fleet.team_storage import namespace

from .manifests import MANAGED, MANAGED_BY, NAME, Manifest, meta
from .spec import AddOnsSpec

ADDON = "teams"
TEAM = "landbridge/team"
# Baseline keeps pods off the host: its network, its files, its processes. What restricted would refuse is told.
SECURITY = {"enforce": "baseline", "warn": "restricted", "audit": "restricted"}
# Instance metadata is at this address in every cloud. A machine's credentials are there, a pod has its own.
METADATA = "169.254.169.254/32"
# Azure's platform tells machines there what it wants of them ("What is IP address 168.63.129.16?"). Names come from
# there, too, but pods ask the cache of their node.
PLATFORM = "168.63.129.16/32"
# Pods of the host's network are beyond any NetworkPolicy; in teams' namespaces there are none.
OPEN = ("default",)


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    spaces = [namespace(team) for team in spec.fleet.teams]
    closed = [METADATA, *([PLATFORM] if spec.azure_regions else [])]
    return [*_namespaces(spec), *(no_metadata(space, closed) for space in (*OPEN, *spaces))]


def _namespaces(spec: AddOnsSpec) -> Iterator[Manifest]:
    # A version that moves by itself would refuse tomorrow what runs today.
    minor = "v" + spec.cluster.kubernetes.rpartition(".")[0]
    security = {f"pod-security.kubernetes.io/{mode}": level for mode, level in SECURITY.items()}
    versions = {f"{label}-version": minor for label in security}
    for team in spec.fleet.teams:
        labels = {MANAGED_BY: MANAGED[MANAGED_BY], NAME: ADDON, TEAM: team, **security, **versions}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace(team), "labels": labels}}


def no_metadata(space: str, closed: list[str]) -> Manifest:
    """All is allowed out but that; nothing is said of what comes in."""
    anywhere = {"ipBlock": {"cidr": "0.0.0.0/0", "except": closed}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta("no-instance-metadata", ADDON, space),
        "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": [anywhere]}]},
    }

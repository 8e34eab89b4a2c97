"""A cluster for a program of a user's own."""

from typing import Any, NotRequired, TypedDict

import pulumi

from .. import cluster
from .component import Component, Given, Stacks


class ClusterArgs(TypedDict):
    """A cluster of the fleet file."""

    fleet: str
    """Path of the fleet file; its ledger lies beside it. A relative one starts at the program's folder."""

    stacks: NotRequired[Stacks]
    """Outputs of what it builds on, by name: its home region, and that of its copies.
    Those that are not here are read by StackReference."""

    cluster: str
    """Its name in the fleet file."""


class Cluster(Component):
    """A cluster's control plane: keys, etcd, API servers, their balancer, backups."""

    outputs: pulumi.Output[dict[str, Any]]
    """All that its stack would publish, under the same names: what `stacks` of other components take."""
    region: pulumi.Output[str]
    """Where it stands."""
    kubernetes: pulumi.Output[str]
    """The version."""
    endpoint: pulumi.Output[str]
    """https://HOST:PORT of the API."""
    authority: pulumi.Output[str]
    """PEM of the authority that vouches for the API."""
    admin_secret: pulumi.Output[str]
    """Name of the secret with its administrator's credential, in the region: JSON with crt and key."""
    issuer: pulumi.Output[str]
    """Of service accounts' tokens, for roles in clouds."""
    pods_cidr: pulumi.Output[str]
    """From the ledger."""
    services_cidr: pulumi.Output[str]
    """From the ledger."""
    machines: pulumi.Output[dict[str, Any]]
    """By name: role, zone, address, host and group."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = Given(args["fleet"], args.get("stacks", {}), "cluster", args["cluster"], cluster.build)
        super().__init__(name, given, opts)

"""A pool for a program of a user's own."""

from typing import Any, NotRequired, TypedDict

import pulumi

from .. import pool
from .component import Component, Given, Stacks


class PoolArgs(TypedDict):
    """A pool of the fleet file."""

    fleet: str
    """Path of the fleet file; its ledger lies beside it. A relative one starts at the program's folder."""

    stacks: NotRequired[Stacks]
    """Outputs of what it builds on, by name: its region, its cluster, and that cluster's home.
    Those that are not here are read by StackReference."""

    pool: str
    """Its name in the fleet file."""


class Pool(Component):
    """Machines of one kind that a cluster has in one region or at one site."""

    outputs: pulumi.Output[dict[str, Any]]
    """All that its stack would publish, under the same names: what `stacks` of other components take."""
    cluster: pulumi.Output[str]
    """Whose nodes they are."""
    kind: pulumi.Output[str]
    """gpu, cpu, system or ssh."""
    bucket: pulumi.Output[str]
    """Where its bundle lies."""
    prefix: pulumi.Output[str]
    """Of its bundle in the bucket."""
    groups: pulumi.Output[dict[str, str] | None]
    """Scaling groups by zone, or the one of all zones as `all`; not at a site."""
    hosts: pulumi.Output[list[str] | None]
    """Of a pool at a site."""

    def __init__(self, name: str, args: PoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = Given(args["fleet"], args.get("stacks", {}), "pool", args["pool"], pool.build)
        super().__init__(name, given, opts)

"""A cluster's add-ons for a program of a user's own."""

from typing import Any, NotRequired, TypedDict

import pulumi

from .. import addons
from ..catalogue import ADDONS
from .component import Component, Given, Stacks


class AddOnsArgs(TypedDict):
    """A cluster of the fleet file, which has one already."""

    fleet: str
    """Path of the fleet file; its ledger lies beside it. A relative one starts at the program's folder."""

    stacks: NotRequired[Stacks]
    """Outputs of what it builds on, by name: the cluster, and the regions of its nodes.
    Those that are not here are read by StackReference."""

    cluster: str
    """Its name in the fleet file."""


class AddOns(Component):
    """What runs inside a cluster: network, names, drivers, the autoscaler, monitoring."""

    outputs: pulumi.Output[dict[str, Any]]
    """All that its stack would publish, under the same names: what `stacks` of other components take."""
    kubernetes: pulumi.Output[str]
    """The cluster's version."""
    add_ons: pulumi.Output[list[str]]
    """Names, in the order of their registration."""
    device_plugin: pulumi.Output[str]
    """NAMESPACE/NAME of the daemon set; empty in a cluster without GPUs."""
    autoscaler: pulumi.Output[str]
    """NAMESPACE/NAME of the deployment; empty in a cluster without scaling groups for work."""
    sites: pulumi.Output[list[str]]
    """Where its nodes are."""
    regions: pulumi.Output[list[str]]
    """Where its nodes are."""

    def __init__(self, name: str, args: AddOnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        stack = f"{args['cluster']}{ADDONS}"
        given = Given(args["fleet"], args.get("stacks", {}), "addons", stack, addons.build)
        super().__init__(name, given, opts)

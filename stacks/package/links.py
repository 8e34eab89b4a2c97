"""A fleet's links for a program of a user's own."""

from typing import Any, NotRequired, TypedDict

import pulumi

from .. import links
from ..catalogue import LINKS
from .component import Component, Given, Stacks


class LinksArgs(TypedDict):
    """All links of the fleet file."""

    fleet: str
    """Path of the fleet file; its ledger lies beside it. A relative one starts at the program's folder."""

    stacks: NotRequired[Stacks]
    """Outputs of what it builds on, by name: every region.
    Those that are not here are read by StackReference."""


class Links(Component):
    """What joins a fleet's regions with each other and with its sites."""

    outputs: pulumi.Output[dict[str, Any]]
    """All that its stack would publish, under the same names: what `stacks` of other components take."""
    regions: pulumi.Output[list[str]]
    """Those that reach each other and resolve each other's private names."""
    connections: pulumi.Output[dict[str, Any]]
    """With sites, by name."""

    def __init__(self, name: str, args: LinksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = Given(args["fleet"], args.get("stacks", {}), "links", LINKS, links.build)
        super().__init__(name, given, opts)

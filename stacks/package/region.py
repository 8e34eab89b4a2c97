"""A region for a program of a user's own."""

from typing import Any, TypedDict

import pulumi

from .. import region
from .component import Component, Given


class RegionArgs(TypedDict):
    """A region of the fleet file."""

    fleet: str
    """Path of the fleet file; its ledger lies beside it. A relative one starts at the program's folder."""

    region: str
    """Its name in the fleet file."""


class Region(Component):
    """A region: its network with hub and private names, the fleet bucket, the shares."""

    outputs: pulumi.Output[dict[str, Any]]
    """All that its stack would publish, under the same names: what `stacks` of other components take."""
    cloud: pulumi.Output[str]
    """`aws` or `azure`."""
    network_id: pulumi.Output[str]
    """The region's network, by the cloud's own id."""
    network_cidr: pulumi.Output[str]
    """Its prefix."""
    private_subnet_ids: pulumi.Output[dict[str, str]]
    """By zone."""
    public_subnet_ids: pulumi.Output[dict[str, str]]
    """By zone."""
    route_table_ids: pulumi.Output[dict[str, str]]
    """By name: public, private, private-ZONE."""
    hub_id: pulumi.Output[str]
    """The transit gateway, on Azure the VPN gateway."""
    zone_id: pulumi.Output[str]
    """The zone of private names."""
    zone_name: pulumi.Output[str]
    """Its name."""
    bucket: pulumi.Output[str]
    """The fleet bucket."""
    shares_id: pulumi.Output[str]
    """The file system, on Azure the account of the shares."""

    def __init__(self, name: str, args: RegionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = Given(args["fleet"], {}, "region", args["region"], region.build)
        super().__init__(name, given, opts)

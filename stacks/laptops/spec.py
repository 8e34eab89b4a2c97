"""What the part of the stack of servers for laptops that is each cloud's own takes and gives."""

from collections.abc import Mapping
from typing import NamedTuple

import pulumi

from components.boot.hosts import HostAuthority
from components.links.laptops.spec import LaptopsSpec
from fleet.world import World

from ..outputs import ClusterOutputs, RegionOutputs


class Given(NamedTuple):
    """`here` is the servers' region, `cluster` what they are nodes of."""

    world: World
    spec: LaptopsSpec
    here: RegionOutputs
    cluster: ClusterOutputs


class Stood(NamedTuple):
    """`servers` has a server's public address, and what keeps it: a scaling group of one, on Azure the machine itself.

    `certificate` is the authority's, `secret` the name of what holds its key.
    """

    certificate: pulumi.Input[str]
    secret: pulumi.Input[str]
    hosts: HostAuthority | None
    servers: Mapping[str, tuple[pulumi.Input[str], pulumi.Input[str]]]

"""The part of a region's stack that vouches for people on machines."""

import pulumi
import pulumi_tls as tls
from pulumi import ResourceOptions

from fleet.logins import by_certificate
from fleet.world import World

from ..outputs import RegionOutputs


def with_keys(opts: ResourceOptions) -> ResourceOptions:
    """What the region's authority for people is made with: the cloud's provider, and one for its key."""
    return ResourceOptions.merge(opts, ResourceOptions(providers={"tls": tls.Provider("people-tls")}))


def vouching(world: World, region: RegionOutputs) -> pulumi.Input[str]:
    """The public line of what signs people's certificates in a region; empty where keys let them in."""
    return region["ssh"]["authority"] if by_certificate(world.fleet) else ""

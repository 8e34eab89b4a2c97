"""The part of a region's stack that vouches for people on machines."""

import pulumi
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.boot.aws.authority import PeopleAuthority
from components.boot.azure import authority as azure_authority
from components.tags import Owner
from fleet.logins import authority_place, by_certificate, served
from fleet.world import World

from ..outputs import RegionOutputs, SshOutputs


def people_authority(world: World, owner: Owner, key_arn: pulumi.Input[str], opts: ResourceOptions) -> SshOutputs:
    """Registers the region's authority where certificates let people in, and gives what is published."""
    if not served(world.fleet, owner.stack):
        return {}
    made = PeopleAuthority(
        "people",
        {"fleet": world.fleet, "owner": owner, "key_arn": key_arn},
        ResourceOptions.merge(opts, ResourceOptions(providers={"tls": tls.Provider("people-tls")})),
    )
    return {"authority": made.line, "authority_secret": authority_place(world.fleet.fleet)}


def people_authority_in_azure(
    world: World, owner: Owner, operators: pulumi.Resource, opts: ResourceOptions
) -> SshOutputs:
    """The same in a region of Azure, whose vault keeps it."""
    if not served(world.fleet, owner.stack):
        return {}
    made = azure_authority.PeopleAuthority(
        "people",
        {"fleet": world.fleet, "region": owner.stack, "owner": owner, "operators": operators},
        ResourceOptions.merge(opts, ResourceOptions(providers={"tls": tls.Provider("people-tls")})),
    )
    return {"authority": made.line, "authority_secret": made.place}


def vouching(world: World, region: RegionOutputs) -> pulumi.Input[str]:
    """The public line of what signs people's certificates in a region; empty where keys let them in."""
    return region["ssh"]["authority"] if by_certificate(world.fleet) else ""

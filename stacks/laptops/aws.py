"""Servers for laptops in a region of AWS."""

import pulumi
import pulumi_random as random
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.links.laptops.aws.laptops import Laptops
from components.links.laptops.nodes import owner
from fleet import laptops

from .. import providers
from ..region.ssh import vouching
from .spec import Given, Stood


async def build(given: Given) -> Stood:
    """Registers them, and what they hang on."""
    world, spec, here = given.world, given.spec, given.here
    fleet = world.fleet
    made_by: dict[str, pulumi.ProviderResource] = {
        "aws": providers.aws(fleet, spec.region),
        "tls": tls.Provider("tls"),
        "random": random.Provider("random"),
    }
    made = Laptops(
        "laptops",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner(fleet, spec.region),
            "supernet": world.plan.supernet,
            "network_id": here["network_id"],
            "subnet_ids": here["public_subnet_ids"],
            "table_ids": here["route_table_ids"],
            "zone_id": here["zone_id"],
            "key_arn": here["key_arn"],
            "cluster_authority": given.cluster["authority"],
            "people_authority": vouching(world, here),
        },
        ResourceOptions(providers=made_by),
    )
    servers = {name: (one.address, one.group.name) for name, one in made.servers.items()}
    return Stood(made.authority.certificate, laptops.authority_place(fleet.fleet), made.hosts, servers)

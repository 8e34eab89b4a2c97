"""Servers for laptops in a region of Azure."""

import pulumi
import pulumi_random as random
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.boot.azure import image as azure_image
from components.links.laptops.azure.laptops import Laptops
from components.links.laptops.nodes import owner

from .. import providers
from ..region.ssh import vouching
from .spec import Given, Stood


async def build(given: Given) -> Stood:
    """Registers them, and what they hang on. Raises pulumi.RunError where there is no image that fits."""
    world, spec, here = given.world, given.spec, given.here
    fleet = world.fleet
    made_by: dict[str, pulumi.ProviderResource] = {
        "azure-native": providers.azure(fleet, spec.region),
        "tls": tls.Provider("tls"),
        "random": random.Provider("random"),
    }
    wanted = azure_image.Wanted("servers for laptops", spec.region, spec.node.kubernetes, "laptop")
    made = Laptops(
        "laptops",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner(fleet, spec.region),
            "supernet": world.plan.supernet,
            "subnet_ids": here["public_subnet_ids"],
            "zone_name": here["zone_name"],
            "image": {"id": await azure_image.version(fleet, wanted, made_by["azure-native"])},
            "cluster_authority": given.cluster["authority"],
            "people_authority": vouching(world, here),
        },
        ResourceOptions(providers=made_by),
    )
    servers = {name: (one.address, one.machine.name) for name, one in made.servers.items()}
    return Stood(made.authority.certificate, made.authority.place, made.hosts, servers)

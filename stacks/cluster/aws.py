"""A cluster's control plane on AWS, with the routes to it."""

from typing import Any

import pulumi_random as random
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.control_plane.aws.control_plane import ControlPlane
from components.control_plane.aws.recovered_keys import recovered
from components.network.aws.cluster_routes import ClusterRoutes
from components.network.routes import table_names
from components.tags import Owner

from .. import providers
from ..region.ssh import vouching
from . import versions
from .spec import Given, Plane


async def build(given: Given) -> Plane:
    """Registers its resources. Raises pulumi.RunError where machines have yet to take the last minor version."""
    world, stack, home = given.world, given.stack, given.home
    fleet, region = world.fleet, stack.region
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    made: dict[str, Any] = {
        "aws": providers.aws(fleet, region),
        "tls": tls.Provider("tls"),
        "random": random.Provider("random"),
    }
    await versions.check_own_step(world, given.spec, given.published, made["aws"])
    ClusterRoutes(
        "routes",
        {
            "cidr": world.plan.cluster(stack.name).block,
            # Named by the fleet file: the region's own list is unknown in its first preview.
            "tables": {name: home["route_table_ids"][name] for name in table_names(fleet.regions[region])},
            "hub_id": home["hub_id"],
        },
        ResourceOptions(providers=made),
    )
    plane = ControlPlane(
        "control-plane",
        {
            "fleet": fleet,
            "spec": given.spec,
            "owner": owner,
            "supernet": world.plan.supernet,
            "generations": given.keys,
            "recovered": recovered(given.origin, given.keys, made["aws"]),
            "network_id": home["network_id"],
            "subnet_ids": home["private_subnet_ids"],
            "zone_id": home["zone_id"],
            "key_arn": home["key_arn"],
            "copies_key_arn": given.second["key_arn"] if given.second else None,
            "people_authority": vouching(world, home),
        },
        ResourceOptions(providers=made),
    )
    groups = {name: machine.group.name for name, machine in plane.machines.items()}
    return Plane(plane.authority, plane.admin, plane.break_glass, plane.recovery, plane.hosts, groups)

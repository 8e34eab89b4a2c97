"""A cluster's control plane on Azure. Its network needs no routes: pods' packets are in those between machines."""

from typing import Any

import pulumi_random as random
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.boot.azure import image as azure_image
from components.control_plane.azure.control_plane import ControlPlane
from components.control_plane.azure.recovered_keys import recovered
from components.tags import Owner

from .. import providers
from ..region.ssh import vouching
from . import versions
from .spec import Given, Plane


async def build(given: Given) -> Plane:
    """Registers its resources. Raises pulumi.RunError."""
    world, stack, spec = given.world, given.stack, given.spec
    fleet, region = world.fleet, stack.region
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    made: dict[str, Any] = {
        "azure-native": providers.azure(fleet, region),
        "tls": tls.Provider("tls"),
        "random": random.Provider("random"),
    }
    await versions.check_own_step(world, spec, given.published, made["azure-native"])
    wanted = azure_image.Wanted(f"cluster {stack.name}", region, spec.kubernetes)
    image = await azure_image.version(fleet, wanted, made["azure-native"])
    plane = ControlPlane(
        "control-plane",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner,
            "supernet": world.plan.supernet,
            "generations": given.keys,
            "recovered": recovered(fleet, given.origin, given.keys, made["azure-native"]),
            "subnet_ids": given.home["fixed_subnet_ids"],
            "image": {"id": image},
            "people_authority": vouching(world, given.home),
        },
        ResourceOptions(providers=made),
    )
    groups = {name: one.machine.name for name, one in plane.machines.items()}
    return Plane(plane.authority, plane.admin, plane.break_glass, plane.recovery, plane.hosts, groups)

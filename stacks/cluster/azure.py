"""A cluster's control plane on Azure. Its network needs no routes: pods' packets are in those between machines."""

from typing import Any

import pulumi_azure_native as azure
import pulumi_random as random
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.boot.azure import image as azure_image
from components.control_plane.azure.control_plane import ControlPlane
from components.control_plane.azure.recovered_keys import recovered
from components.tags import Owner

from ..region.ssh import vouching
from . import versions
from .spec import Given, Plane


async def build(given: Given) -> Plane:
    """Registers its resources. Raises pulumi.RunError."""
    world, stack, spec = given.world, given.stack, given.spec
    fleet, region = world.fleet, stack.region
    assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    providers: dict[str, Any] = {
        "azure-native": azure.Provider(
            region, location=region, subscription_id=fleet.azure.subscription_id, tenant_id=fleet.azure.tenant_id
        ),
        "tls": tls.Provider("tls"),
        "random": random.Provider("random"),
    }
    await versions.check_own_step(world, spec, given.published, providers["azure-native"])
    wanted = azure_image.Wanted(f"cluster {stack.name}", region, spec.kubernetes)
    image = await azure_image.version(fleet, wanted, providers["azure-native"])
    plane = ControlPlane(
        "control-plane",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner,
            "supernet": world.plan.supernet,
            "generations": given.keys,
            "recovered": recovered(fleet, given.origin, given.keys, providers["azure-native"]),
            "subnet_ids": given.home["fixed_subnet_ids"],
            "image": {"id": image},
            "people_authority": vouching(world, given.home),
        },
        ResourceOptions(providers=providers),
    )
    groups = {name: one.machine.name for name, one in plane.machines.items()}
    return Plane(plane.authority, plane.admin, plane.break_glass, plane.recovery, plane.hosts, groups)

"""A cluster: its control plane."""

from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_random as random
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.control_plane.aws import ControlPlane
from components.control_plane.machines import API_PORT, cluster_spec
from components.control_plane.pki import Generations
from components.control_plane.rotation import all_generations
from components.control_plane.rotation import refusals as rotation_refusals
from components.network.aws_cluster_routes import ClusterRoutes
from components.network.routes import table_names
from components.storage.bucket import bucket_name
from components.tags import Owner
from fleet import kubernetes_versions, rotations
from fleet.world import World

from .catalogue import StackSpec
from .outputs import last_published, publish, region_outputs


def program(world: World, stack: StackSpec) -> None:
    """Registers the cluster's resources and publishes `ClusterOutputs`."""
    pulumi.run(lambda: _program(world, stack))


async def _program(world: World, stack: StackSpec) -> None:
    fleet, region = world.fleet, stack.region
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    spec = cluster_spec(fleet, world.plan, stack.name)
    keys = all_generations(rotations.load(rotations.rotations_path(world.path)).get(stack.name, {}))
    await _check(world, stack, spec.kubernetes, keys)
    try:
        home = await region_outputs(region)
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    providers: dict[str, Any] = {
        "aws": aws.Provider(region, region=region, allowed_account_ids=[fleet.aws.account_id]),
        "tls": tls.Provider("tls"),
        "random": random.Provider("random"),
    }
    ClusterRoutes(
        "routes",
        {
            "cidr": world.plan.cluster(stack.name).block,
            # Named by the fleet file: the region's own list is unknown in its first preview.
            "tables": {name: home["route_table_ids"][name] for name in table_names(fleet.regions[region])},
            "hub_id": home["hub_id"],
        },
        ResourceOptions(providers=providers),
    )
    plane = ControlPlane(
        "control-plane",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner,
            "supernet": world.plan.supernet,
            "generations": keys,
            "network_id": home["network_id"],
            "subnet_ids": home["private_subnet_ids"],
            "zone_id": home["zone_id"],
            "key_arn": home["key_arn"],
        },
        ResourceOptions(providers=providers),
    )
    publish(
        {
            "cloud": "aws",
            "region": region,
            "kubernetes": spec.kubernetes,
            "endpoint": f"https://{spec.endpoint}:{API_PORT}",
            "authority": plane.authority.trusted("kubernetes"),
            "admin_secret": plane.admin,
            "break_glass_secret": plane.break_glass,
            "issuer": spec.issuer,
            "pods_cidr": spec.pods_cidr,
            "services_cidr": spec.services_cidr,
            "bucket": bucket_name(fleet, region),
            "prefix": spec.prefix("").rstrip("/"),
            "generations": {name: {"trusted": list(at.trusted), "signing": at.signing} for name, at in keys.items()},
            "machines": {
                machine.name: {
                    "role": machine.role,
                    "zone": machine.zone,
                    "address": machine.address,
                    "host": machine.host,
                    "group": plane.machines[machine.name].group.name,
                }
                for machine in spec.machines
            },
        }
    )


async def _check(world: World, stack: StackSpec, kubernetes: str, keys: dict[str, Generations]) -> None:
    """Raises RunError where this stack can't come from what it last was."""
    refused = [kubernetes_versions.refusal(await last_published(stack.name, "kubernetes"), kubernetes)]
    published: dict[str, Any] = await last_published(stack.name, "generations") or {}
    before = {name: Generations(tuple(map(int, at["trusted"])), int(at["signing"])) for name, at in published.items()}
    refused += rotation_refusals(before, keys)
    if told := [f"{world.path.name}: cluster {stack.name}: {why}" for why in refused if why]:
        raise pulumi.RunError("\n".join(told))

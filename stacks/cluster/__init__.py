"""A cluster: its control plane."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import pulumi

from components.boot import hosts
from components.control_plane.backups import copies_place
from components.control_plane.machines import API_PORT, cluster_spec
from components.control_plane.pki import Generations
from components.control_plane.rotation import all_generations
from components.control_plane.rotation import refusals as rotation_refusals
from fleet import kubernetes_versions, rebuilds, rotations
from fleet.buckets import bucket_name
from fleet.rebuilds import Origin
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import ClusterOutputs, last_published, publishing, region_outputs
from .spec import Given, Plane


def program(world: World, stack: StackSpec) -> None:
    """Registers the cluster's resources and publishes `ClusterOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> ClusterOutputs:
    """Registers them, and gives what is published. Raises RunError where it can't come from what it last was."""
    fleet, region = world.fleet, stack.region
    origin = rebuilds.of(world.path, stack.name, region)
    spec = cluster_spec(fleet, world.plan, stack.name)._replace(former_issuer=origin.issuer if origin else "")
    keys = all_generations(rotations.load(rotations.rotations_path(world.path)).get(stack.name, {}))
    published = await _check(world, stack, spec.kubernetes, keys, origin)
    copies = fleet.clusters[stack.name].copies
    home = await region_outputs(region)
    second = await region_outputs(copies) if copies else None
    build: Callable[[Given], Awaitable[Plane]] = import_module(f".{spec.cloud}", __package__).build
    plane = await build(Given(world, stack, spec, keys, origin, published, home, second))
    return {
        "cloud": spec.cloud,
        "region": region,
        "kubernetes": spec.kubernetes,
        "endpoint": f"https://{spec.endpoint}:{API_PORT}",
        "authority": plane.authority.trusted("kubernetes"),
        "admin_secret": plane.admin,
        "break_glass_secret": plane.break_glass,
        "issuer": spec.issuer,
        "origin": origin.secret if origin else "",
        "pods_cidr": spec.pods_cidr,
        "services_cidr": spec.services_cidr,
        "bucket": bucket_name(fleet, region),
        "prefix": spec.prefix("").rstrip("/"),
        "copies": {
            "region": spec.copies.region,
            "bucket": spec.copies.bucket,
            "prefix": copies_place(region, stack.name),
            "recovery_secret": plane.recovery,
        }
        if spec.copies
        else {},
        "generations": {name: {"trusted": list(at.trusted), "signing": at.signing} for name, at in keys.items()},
        "known_hosts": hosts.known(plane.hosts, [who for one in spec.machines for who in (one.host, one.address)]),
        "machines": {
            machine.name: {
                "role": machine.role,
                "zone": machine.zone,
                "address": machine.address,
                "host": machine.host,
                "group": plane.groups[machine.name],
            }
            for machine in spec.machines
        },
    }


async def _check(
    world: World, stack: StackSpec, kubernetes: str, keys: dict[str, Generations], origin: Origin | None
) -> str | None:
    """The version of Kubernetes before this one. Raises RunError where this stack can't come from what it last was."""
    before_this: str | None = await last_published(stack.name, "kubernetes")
    # Whether API servers have taken it is looked for by who may ask the cloud: versions.py.
    refused: list[str | None] = [kubernetes_versions.refusal(before_this, kubernetes, undone=True)]
    stands, came_from = await last_published(stack.name, "region"), await last_published(stack.name, "origin")
    refused += rebuilds.refusals(stack.name, stack.region, stands, came_from, origin)
    published: dict[str, Any] = await last_published(stack.name, "generations") or {}
    before = {name: Generations(tuple(map(int, at["trusted"])), int(at["signing"])) for name, at in published.items()}
    refused += rotation_refusals(before, keys)
    if problems := [f"{world.path.name}: cluster {stack.name}: {why}" for why in refused if why]:
        raise pulumi.RunError("\n".join(problems))
    return before_this

"""The servers that people's laptops come into a region by."""

from collections.abc import Awaitable, Callable
from importlib import import_module

import pulumi

from components.boot import hosts
from components.links.laptops.spec import laptops_spec
from fleet import laptops
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import LaptopsOutputs, cluster_outputs, publishing, region_outputs
from .spec import Given, Stood


def program(world: World, stack: StackSpec) -> None:
    """Registers servers and authority, and publishes `LaptopsOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> LaptopsOutputs:
    """Registers them, and gives what is published."""
    fleet, region = world.fleet, stack.region
    here, cluster = await region_outputs(region), await cluster_outputs(laptops.cluster(fleet, region) or "")
    spec = laptops_spec(fleet, world.plan, region)
    assert spec is not None  # the catalogue: no stack without servers
    build: Callable[[Given], Awaitable[Stood]] = import_module(f".{spec.cloud}", __package__).build
    made = await build(Given(world, spec, here, cluster))
    return {
        "region": region,
        "cluster": spec.node.cluster,
        "authority": made.certificate,
        "authority_secret": made.secret,
        "known_hosts": hosts.known(made.hosts, [server.host for server in spec.servers]),
        "servers": {
            server.name: {
                "zone": server.zone,
                "host": server.host,
                "address": made.servers[server.name][0],
                "pool_cidr": server.pool_cidr,
                "group": made.servers[server.name][1],
            }
            for server in spec.servers
        },
    }

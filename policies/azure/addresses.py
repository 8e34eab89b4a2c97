"""Prefixes on Azure: a network's and its subnets' are the ledger's, wherever they are written."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fleet.address.blocks import Block, overlaps, parse
from fleet.address.names import is_aggregate
from fleet.address.plan import RegionPlan
from fleet.world import World

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in, values

NETWORK, SUBNET = "azure-native:network:VirtualNetwork", "azure-native:network:Subnet"
# Type → where its own prefixes stand, and those of its subnets.
OWNED = {
    NETWORK: ("addressSpace.addressPrefixes", "subnets.addressPrefix", "subnets.addressPrefixes"),
    SUBNET: ("addressPrefix", "addressPrefixes"),
}
ROUTES = {
    "azure-native:network:Route": ("addressPrefix",),
    "azure-native:network:RouteTable": ("routes.addressPrefix",),
}
# By Azure's rule the name of the subnet that VPN gateways stand in, and the least that it may have.
GATEWAY, LEAST_GATEWAY = "GatewaySubnet", 27
# Subnets that have a prefix of their own in the ledger, by name, with where the plan has it.
OWN: Mapping[str, Callable[[RegionPlan], str | None]] = {
    GATEWAY: lambda plan: plan.gateway,
    "names": lambda plan: plan.names,
    "questions": lambda plan: plan.questions,
}
EVERYWHERE = "0.0.0.0/0"
LEDGER = "Take the prefix from the address plan (`landbridge plan`)"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in of_types(found, OWNED):
        yield from _owned(item, world)
    for item in of_types(found, ROUTES):
        for path in ROUTES[item.type]:
            yield from _route(item, path, world)


def _regions(item: Item, world: World) -> dict[str, RegionPlan]:
    """The stack's own region, or all that may have a network on Azure."""
    known = [name for name, region in world.fleet.regions.items() if region.cloud == "azure"]
    return {name: world.plan.region(name) for name in known if item.stack not in known or name == item.stack}


def _owned(item: Item, world: World) -> Iterator[Finding]:
    plans = _regions(item, world)
    prefixes: dict[str, tuple[str, Block]] = {}
    for path in OWNED[item.type]:
        for name, value in _named(item, path):
            if value is UNKNOWN or name is UNKNOWN:
                yield undecidable(item, path)
                continue
            try:
                block = parse(str(value))
            except ValueError as error:
                yield finding(item, path, f"{path}: {error}", LEDGER)
                continue
            if name:
                prefixes[f"{name} ({value})"] = (path, block)
            if wrong := _wrong(name, block, plans):
                whose = f" of {name}" if name else ""
                yield finding(item, path, f"{path}{whose} {block} {wrong}", LEDGER)
    for first, second in overlaps([(name, block) for name, (_, block) in prefixes.items()]):
        yield finding(item, prefixes[second][0], f"subnet {second} overlaps {first}", LEDGER)


def _named(item: Item, path: str) -> Iterator[tuple[Any, Any]]:
    """Subnets' names with each of their prefixes; an empty one with those of the network."""
    if item.type == SUBNET:
        yield from ((item.props.get("subnetName"), value) for value in values(item.props, path) if value)
        return
    inside, _, last = path.rpartition(".")
    for holder in values(item.props, inside):
        if holder is UNKNOWN:
            yield "", UNKNOWN
        elif isinstance(holder, dict):
            name = "" if inside == "addressSpace" else holder.get("name")
            yield from ((name, value) for value in values(holder, last) if value)


def _wrong(name: str | None, block: Block, plans: dict[str, RegionPlan]) -> str | None:
    if name == "":
        fits = [plan for plan in plans.values() if parse(plan.network) == block]
        return None if fits else "is no network's in the ledger"
    if name == GATEWAY and block.length > LEAST_GATEWAY:
        return f"is smaller than the /{LEAST_GATEWAY} that a VPN gateway needs"
    if name is not None and name in OWN:
        own = [OWN[name](plan) for plan in plans.values()]
        return None if str(block) in own else "is not the one that the ledger has for it"
    zones = [zone for plan in plans.values() for zone in plan.zones.values()]
    inside = any(parse(cidr).holds(block) for zone in zones for cidr in (zone.private, zone.public))
    return None if inside else "lies in no zone's private or public prefix"


def _route(item: Item, path: str, world: World) -> Iterator[Finding]:
    known = {str(block) for name, block in world.plan.blocks.items() if is_aggregate(name)} | {EVERYWHERE}
    inside, _, last = path.rpartition(".")
    for route in values(item.props, inside) if inside else [item.props]:
        value = route.get(last) if isinstance(route, dict) else route
        if unknown_in(value):
            yield undecidable(item, path)
        elif not value or value in known:
            continue
        else:
            yield finding(item, path, f"{path} {value} is no region's, site's or cluster's aggregate", LEDGER)

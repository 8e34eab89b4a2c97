"""The routers and wires that what the local clouds have, and sites that stand, come to. Pure.

A network's machines are each on a wire of their own to its router, which knows the subnets' route tables and the
security groups. Hubs, tunnels and sites are in modules of their own.
"""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any, NamedTuple

from . import bgp, hub_routers, site_routers, tunnels, vnet_routers
from .ends import Heard, Site, Tunnel
from .groups import ruleset
from .routers import CLOUD, CLOUD_INTERFACE, FIRST, METADATA, PLATFORM, Route, Router, Rule, Wire, short_name

MACHINE, HUB = "m", "h"
FIRST_TABLE = 1000


class Plan(NamedTuple):
    """Routers by name and their wires. What clouds see at their ends of tunnels: how many prefixes they take there;
    None: down. `tunnels` are AWS's by outside address, `ends` Azure's by connection and the gateway's address.
    """

    routers: dict[str, Router]
    wires: frozenset[Wire]
    tunnels: dict[str, int | None]
    ends: dict[str, dict[str, int | None]]


def plan(world: Mapping[str, Any], there: Iterable[Site]) -> Plan:
    standing = list(there)
    up = tunnels.up(world, standing)
    heard = bgp.converged(world, standing, up)
    azures, gateways = world["vnets"], world["gateways"]
    machines = {address for one in world["machines"] for address in _addresses(one)}
    cidrs = {one["id"]: one["cidrs"] for one in [*world["networks"], *azures]}
    routers = {one["id"]: _network(one, machines) for one in world["networks"]}
    routers |= {one["id"]: hub_routers.transit_gateway(one, cidrs, up, heard) for one in world["hubs"]}
    learned = {one["id"]: sorted(hub_routers.known(one, up, heard)) for one in gateways}
    routers |= {one["id"]: vnet_routers.router(one, machines, learned.get(one["gateway"], ())) for one in azures}
    routers |= {one["id"]: hub_routers.vpn_gateway(one, cidrs, up, heard) for one in gateways}
    routers |= {
        site.router: site_routers.router(site, [one for one in up if one.at(site.router)], heard) for site in standing
    }
    routers[CLOUD] = _cloud([*world["networks"], *azures], standing)
    counts = _prefix_counts(up, heard)
    return Plan(
        routers,
        frozenset(_wires(world, standing, up)),
        {one["outside"]: counts.get((c["id"], one["outside"])) for c in world["connections"] for one in c["tunnels"]},
        {
            one["id"]: {end["outside"]: counts.get((one["id"], end["outside"])) for end in one["ends"]}
            for gateway in gateways
            for one in gateway["connections"]
        },
    )


def _addresses(machine: Mapping[str, Any]) -> Iterator[str]:
    yield machine["address"]
    yield from (address.partition("/")[0] for one in machine.get("cards", ()) for address in one)


def _prefix_counts(up: Iterable[Tunnel], heard: Heard) -> dict[tuple[str, str], int]:
    """By connection and address of the end."""
    found = {}
    for tunnel in up:
        for end in tunnel.ends:
            side = next(one for one in (tunnel.here, tunnel.there) if one.connection == end[0])
            found[end] = len(heard[tunnel.name, side.router])
    return found


def _wires(world: Mapping[str, Any], standing: list[Site], up: list[Tunnel]) -> Iterator[Wire]:
    azures = world["vnets"]
    for name in [*(one["id"] for one in [*world["networks"], *azures]), *(one.router for one in standing)]:
        yield Wire(CLOUD, short_name("n", name), name, CLOUD_INTERFACE)
    networks = {one["id"] for one in world["networks"]}
    there = {one["id"] for one in world["hubs"]}
    for hub in world["hubs"]:
        for one in hub["attachments"]:
            if one["kind"] == "vpc" and one["to"] in networks:
                yield Wire(hub["id"], short_name("a", one["id"]), one["to"], short_name(HUB, hub["id"]))
            # Both hubs tell of a peering; it is one wire.
            elif one["kind"] == "peering" and hub["id"] < one["to"] and one["to"] in there:
                yield Wire(hub["id"], short_name("p", one["id"]), one["to"], short_name("p", one["id"]))
    yield from vnet_routers.wires(azures, world["gateways"])
    for tunnel in up:
        yield Wire(tunnel.here.router, tunnel.interface, tunnel.there.router, tunnel.interface)


def _cloud(networks: Iterable[Mapping[str, Any]], standing: list[Site]) -> Router:
    by_prefix = {cidr: short_name("n", one["id"]) for one in networks for cidr in one["cidrs"]}
    routes = {
        Route(cidr, (interface,))
        for cidr, interface in [*by_prefix.items(), *((s.lan, short_name("n", s.router)) for s in standing)]
    }
    rules = set()
    # What it says with an address of a network, a balancer's, leaves by that network, wherever it goes.
    for number, (cidr, interface) in enumerate(sorted(by_prefix.items()), FIRST_TABLE):
        routes.add(Route("default", (interface,), number))
        rules.add(Rule(f"from {cidr}", number, FIRST))
    return Router(frozenset(routes), frozenset(rules))


def _network(network: Mapping[str, Any], machines: set[str]) -> Router:
    """Machines' own routes come and go with their interfaces; other interfaces are answered for by the local cloud."""
    here = [one["address"] for one in network["interfaces"] if one["address"] not in machines]
    routes = {Route(f"{address}/32", (CLOUD_INTERFACE,)) for address in [METADATA, PLATFORM, *here]}
    # What is the network's own never leaves it.
    routes |= {Route(cidr) for cidr in network["cidrs"]}
    rules = set()
    for number, subnet in enumerate(sorted(network["subnets"], key=lambda one: str(one["cidr"])), FIRST_TABLE):
        by_prefix = {one["cidr"]: short_name(HUB, one["hub"]) for one in subnet["routes"]}
        routes |= {Route(cidr, (interface,), number) for cidr, interface in by_prefix.items()}
        rules |= {Rule(f"from {of}", number) for of in _speakers(network, subnet["cidr"]) if by_prefix}
    return Router(frozenset(routes), frozenset(rules), ruleset(network, MACHINE, HUB))


def _speakers(network: Mapping[str, Any], cidr: str) -> Iterator[str]:
    """Whose packets a subnet's routes are for. What endpoints answer has the local cloud's address until it leaves."""
    yield cidr
    answering = [address for one in network["endpoints"] for address in one["addresses"]]
    if answering and IPv4Address(min(answering)) in IPv4Network(cidr):
        yield METADATA

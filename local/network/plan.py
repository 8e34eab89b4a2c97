"""The routers and wires that what the local AWS has, and sites that stand, come to. Pure.

A network's machines are each on a wire of their own to its router, which knows the subnets' route tables and the
security groups. A hub's router looks what comes by an attachment up in the table that this is associated with. A site's
stands for its gateways: it takes a region's routes by the tunnels that are up, and tells its own block there.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any, NamedTuple

from .groups import ruleset
from .routers import CLOUD, CLOUD_CARD, FIRST, METADATA, PLATFORM, Route, Router, Rule, Wire, card, filtering

MACHINE, HUB = "m", "h"
FIRST_TABLE = 1000


class Site(NamedTuple):
    """A machine room where something stands. `gateways` are the public addresses of its ends of tunnels."""

    name: str
    block: str
    lan: str
    gateways: tuple[str, ...]

    @property
    def router(self) -> str:
        return f"site-{self.name}"


class Plan(NamedTuple):
    """Routers by name and their wires. `tunnels`: outside address → prefixes that a hub takes from it; None: down."""

    routers: dict[str, Router]
    wires: frozenset[Wire]
    tunnels: dict[str, int | None]


class Tunnel(NamedTuple):
    """One that is up, between a hub and a site."""

    outside: str
    hub: str
    connection: str
    site: Site

    @property
    def card(self) -> str:
        return card("t", self.outside)


def plan(world: Mapping[str, Any], sites: Iterable[Site]) -> Plan:
    standing = list(sites)
    tunnels = list(_tunnels(world["connections"], standing))
    routers = {one["id"]: _network(one, {m["address"] for m in world["machines"]}) for one in world["networks"]}
    cidrs = {one["id"]: one["cidrs"] for one in world["networks"]}
    routers |= {one["id"]: _hub(one, cidrs, tunnels) for one in world["hubs"]}
    routers |= {one.router: _site(one, world["hubs"], tunnels, cidrs) for one in standing}
    routers[CLOUD] = _cloud(world["networks"], standing)
    up = {one.outside for one in tunnels}
    ends = [tunnel["outside"] for one in world["connections"] for tunnel in one["tunnels"]]
    return Plan(routers, frozenset(_wires(world, standing, tunnels)), {end: 1 if end in up else None for end in ends})


def _tunnels(connections: Iterable[Mapping[str, Any]], sites: list[Site]) -> Iterator[Tunnel]:
    for one in connections:
        site = next((site for site in sites if one["device"] in site.gateways), None)
        for tunnel in one["tunnels"]:
            if site and tunnel["asked"] is not False:
                yield Tunnel(tunnel["outside"], one["hub"], one["id"], site)


def _wires(world: Mapping[str, Any], sites: list[Site], tunnels: list[Tunnel]) -> Iterator[Wire]:
    for name in [*(one["id"] for one in world["networks"]), *(one.router for one in sites)]:
        yield Wire(CLOUD, card("n", name), name, CLOUD_CARD)
    networks = {one["id"] for one in world["networks"]}
    there = {one["id"] for one in world["hubs"]}
    for hub in world["hubs"]:
        for one in hub["attachments"]:
            if one["kind"] == "vpc" and one["to"] in networks:
                yield Wire(hub["id"], card("a", one["id"]), one["to"], card(HUB, hub["id"]))
            # Both hubs tell of a peering; it is one wire.
            elif one["kind"] == "peering" and hub["id"] < one["to"] and one["to"] in there:
                yield Wire(hub["id"], card("p", one["id"]), one["to"], card("p", one["id"]))
    for tunnel in tunnels:
        yield Wire(tunnel.hub, tunnel.card, tunnel.site.router, tunnel.card)


def _cloud(networks: Iterable[Mapping[str, Any]], sites: list[Site]) -> Router:
    ways = {cidr: card("n", one["id"]) for one in networks for cidr in one["cidrs"]}
    routes = {Route(cidr, (way,)) for cidr, way in [*ways.items(), *((s.lan, card("n", s.router)) for s in sites)]}
    rules = set()
    # What it says with an address of a network, a balancer's, leaves by that network, wherever it goes.
    for number, (cidr, way) in enumerate(sorted(ways.items()), FIRST_TABLE):
        routes.add(Route("default", (way,), number))
        rules.add(Rule(f"from {cidr}", number, FIRST))
    return Router(frozenset(routes), frozenset(rules))


def _network(network: Mapping[str, Any], machines: set[str]) -> Router:
    """Machines' own routes come and go with their cards; other interfaces are answered for by the local cloud."""
    here = [one["address"] for one in network["interfaces"] if one["address"] not in machines]
    routes = {Route(f"{address}/32", (CLOUD_CARD,)) for address in [METADATA, PLATFORM, *here]}
    # What is the network's own never leaves it.
    routes |= {Route(cidr) for cidr in network["cidrs"]}
    rules = set()
    for number, subnet in enumerate(sorted(network["subnets"], key=lambda one: str(one["cidr"])), FIRST_TABLE):
        ways = {one["cidr"]: card(HUB, one["hub"]) for one in subnet["routes"]}
        routes |= {Route(cidr, (way,), number) for cidr, way in ways.items()}
        rules |= {Rule(f"from {of}", number) for of in _speakers(network, subnet["cidr"]) if ways}
    return Router(frozenset(routes), frozenset(rules), ruleset(network, MACHINE, HUB))


def _speakers(network: Mapping[str, Any], cidr: str) -> Iterator[str]:
    """Whose packets a subnet's routes are for. What endpoints answer has the local cloud's address until it leaves."""
    yield cidr
    answering = [address for one in network["endpoints"] for address in one["addresses"]]
    if answering and IPv4Address(min(answering)) in IPv4Network(cidr):
        yield METADATA


def _hub(hub: Mapping[str, Any], cidrs: Mapping[str, list[str]], tunnels: list[Tunnel]) -> Router:
    cards = {one["id"]: _cards(hub["id"], one, tunnels) for one in hub["attachments"]}
    numbers = {name: number for number, name in enumerate(sorted(hub["tables"]), FIRST_TABLE)}
    routes, rules = set(), set()
    for name, table in hub["tables"].items():
        for cidr, ends in _contents(hub, table, cidrs, tunnels).items():
            routes.add(Route(cidr, tuple(sorted(way for end in ends for way in cards.get(end, ()))), numbers[name]))
    for one in hub["attachments"]:
        if one["table"]:
            rules |= {Rule(f"iif {way}", numbers[one["table"]]) for way in cards[one["id"]]}
    # Both directions of a flow need not come the same way: a hub keeps no state.
    return Router(frozenset(routes), frozenset(rules))


def _cards(hub: str, attachment: Mapping[str, Any], tunnels: list[Tunnel]) -> list[str]:
    kinds = {"vpc": "a", "peering": "p"}
    if kind := kinds.get(attachment["kind"]):
        return [card(kind, attachment["id"])]
    return [one.card for one in tunnels if (one.hub, one.connection) == (hub, attachment["to"])]


def _contents(
    hub: Mapping[str, Any], table: Mapping[str, Any], cidrs: Mapping[str, list[str]], tunnels: list[Tunnel]
) -> dict[str, list[str]]:
    """A hub's table: prefix → attachments. A static route goes before what is learned."""
    learned: dict[str, list[str]] = defaultdict(list)
    for one in hub["attachments"]:
        if one["id"] in table["learns"]:
            told = [t.site.block for t in tunnels if (t.hub, t.connection) == (hub["id"], one["to"])]
            for cidr in {*told, *(cidrs.get(one["to"], ()) if one["kind"] == "vpc" else ())}:
                learned[cidr].append(one["id"])
    return {**learned, **{route["cidr"]: route["attachments"] for route in table["routes"]}}


def _site(
    site: Site, hubs: Iterable[Mapping[str, Any]], tunnels: list[Tunnel], cidrs: Mapping[str, list[str]]
) -> Router:
    ways: dict[str, list[str]] = defaultdict(list)
    for hub in hubs:
        for one in hub["attachments"]:
            mine = [t for t in tunnels if (t.hub, t.connection, t.site) == (hub["id"], one["to"], site)]
            if mine and one["table"]:
                # AWS tells a site what the table of its tunnel has.
                for cidr in _contents(hub, hub["tables"][one["table"]], cidrs, tunnels):
                    ways[cidr] += [tunnel.card for tunnel in mine]
    routes = {Route(cidr, tuple(sorted(cards))) for cidr, cards in ways.items() if cidr != site.block}
    routes |= {Route(f"{METADATA}/32", (CLOUD_CARD,)), Route(f"{PLATFORM}/32", (CLOUD_CARD,)), Route(site.block)}
    lines = [
        f'iifname "{MACHINE}*" oifname "{MACHINE}*" accept',
        f'iifname "{MACHINE}*" ip daddr {{ {METADATA}, {PLATFORM} }} accept',
        f'iifname "{CLOUD_CARD}" ip saddr {{ {METADATA}, {PLATFORM} }} accept',
    ]
    for cidr, cards in sorted(ways.items()):
        named = ", ".join(f'"{one}"' for one in sorted(cards))
        lines.append(f"iifname {{ {named} }} ip saddr {cidr} ip daddr {site.block} accept")
        lines.append(f"oifname {{ {named} }} ip saddr {site.block} ip daddr {cidr} accept")
    return Router(frozenset(routes), ruleset=filtering(*lines))

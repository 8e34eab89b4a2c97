"""Hubs' routers: AWS's transit gateways, with tables of their own, and Azure's VPN gateways, with one for all. Pure.

What comes by an attachment of a transit gateway is looked up in the table that this is associated with. Both directions
of a flow need not come the same way: a hub keeps no state.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .ends import Heard, Path, Tunnel
from .routers import Route, Router, Rule, short_name

FIRST_TABLE = 1000
KINDS = {"vpc": "a", "peering": "p"}


class Entry(NamedTuple):
    """Of a table: the numbers on the way, and the attachments, or interfaces, that lead there."""

    path: Path
    next_hops: tuple[str, ...]


def contents(
    hub: Mapping[str, Any],
    table: Mapping[str, Any],
    cidrs: Mapping[str, list[str]],
    tunnels: Iterable[Tunnel],
    heard: Heard,
) -> dict[str, Entry]:
    """A transit gateway's table: prefix → attachments. A static route goes before what is learned."""
    mine, found = list(tunnels), list[tuple[str, Path, str]]()
    for one in hub["attachments"]:
        if one["id"] in table["learns"]:
            for tunnel in _of(hub["id"], one, mine):
                found += [(cidr, path, one["id"]) for cidr, path in heard.get((tunnel.name, hub["id"]), {}).items()]
            if one["kind"] == "vpc":
                found += [(cidr, (), one["id"]) for cidr in cidrs.get(one["to"], ())]
    static = {route["cidr"]: Entry((), tuple(route["attachments"])) for route in table["routes"]}
    return {**best(found), **static}


def best(found: Iterable[tuple[str, Path, str]]) -> dict[str, Entry]:
    """Of prefix, path and way: the shortest paths, with all their ways."""
    chosen: dict[str, Entry] = {}
    for cidr, path, next_hop in found:
        before = chosen.get(cidr)
        if before is None or len(path) < len(before.path):
            chosen[cidr] = Entry(path, (next_hop,))
        elif len(path) == len(before.path) and next_hop not in before.next_hops:
            chosen[cidr] = before._replace(next_hops=(*before.next_hops, next_hop))
    return chosen


def transit_gateway(
    hub: Mapping[str, Any], cidrs: Mapping[str, list[str]], tunnels: Iterable[Tunnel], heard: Heard
) -> Router:
    mine = list(tunnels)
    interfaces = {one["id"]: list(_interfaces(hub["id"], one, mine)) for one in hub["attachments"]}
    numbers = {name: number for number, name in enumerate(sorted(hub["tables"]), FIRST_TABLE)}
    routes, rules = set(), set()
    for name, table in hub["tables"].items():
        for cidr, entry in contents(hub, table, cidrs, mine, heard).items():
            devices = sorted(device for end in entry.next_hops for device in interfaces.get(end, ()))
            routes.add(Route(cidr, tuple(devices), numbers[name]))
    for one in hub["attachments"]:
        if one["table"]:
            rules |= {Rule(f"iif {device}", numbers[one["table"]]) for device in interfaces[one["id"]]}
    return Router(frozenset(routes), frozenset(rules))


def _interfaces(hub: str, attachment: Mapping[str, Any], tunnels: list[Tunnel]) -> Iterator[str]:
    if kind := KINDS.get(attachment["kind"]):
        yield short_name(kind, attachment["id"])
    yield from (one.interface for one in _of(hub, attachment, tunnels))


def _of(hub: str, attachment: Mapping[str, Any], tunnels: list[Tunnel]) -> list[Tunnel]:
    """The tunnels of an attachment, if it is a connection."""
    if attachment["kind"] in KINDS:
        return []
    return [one for one in tunnels if (hub, attachment["to"]) in (one.here, one.there)]


def known(gateway: Mapping[str, Any], tunnels: Iterable[Tunnel], heard: Heard) -> dict[str, Entry]:
    """What a VPN gateway learns by its tunnels: prefix → interfaces."""
    announced = ((one.interface, heard.get((one.name, gateway["id"]), {})) for one in tunnels if one.at(gateway["id"]))
    return best((cidr, path, interface) for interface, routes in announced for cidr, path in routes.items())


def vpn_gateway(
    gateway: Mapping[str, Any], spaces: Mapping[str, list[str]], tunnels: Iterable[Tunnel], heard: Heard
) -> Router:
    """`spaces` are networks' prefixes. What is its networks' own is never led elsewhere, whatever it hears."""
    routes = {Route(cidr, tuple(sorted(entry.next_hops))) for cidr, entry in known(gateway, tunnels, heard).items()}
    own = {cidr: short_name("v", name) for name in gateway["networks"] for cidr in spaces.get(name, ())}
    routes = {one for one in routes if one.cidr not in own}
    return Router(frozenset(routes | {Route(cidr, (interface,)) for cidr, interface in own.items()}))

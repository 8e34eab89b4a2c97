"""Routers of Azure's virtual networks. Pure.

Azure documentation, "Virtual network traffic routing": each subnet has a table of its own; the longest prefix decides,
then a route of the user's goes before one that BGP told, and that before Azure's own. Prefixes of networks and peers
are Azure's own even where BGP tells longer ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from . import rules
from .routers import CLOUD_INTERFACE, FIRST, METADATA, PLATFORM, Route, Router, Rule, Wire, short_name

MACHINE, GATEWAY, PEER = "m", "g", "p"
FIRST_TABLE = 1000
WORLD = "0.0.0.0/0"
# A route's next hop → a way that is there. The internet is not, and no machine of the local cloud forwards.
ONWARD, TO_GATEWAY = "VnetLocal", "VirtualNetworkGateway"


def router(vnet: Mapping[str, Any], machines: set[str], learned: Iterable[str]) -> Router:
    """`machines` are addresses that machines run on; `learned` is what the gateway hears that the network uses.

    Other addresses of the network are answered for by the local cloud.
    """
    accepted = [cidr for cidr in learned if not _inside(cidr, _system(vnet))]
    here = [one["address"] for one in vnet["interfaces"] if one["address"] not in machines]
    routes = {Route(f"{address}/32", (CLOUD_INTERFACE,)) for address in [METADATA, PLATFORM, *here]}
    routes |= {Route(cidr) for cidr in vnet["cidrs"]}
    policies = set()
    for number, subnet in enumerate(sorted(vnet["subnets"], key=lambda one: str(one["cidr"])), FIRST_TABLE):
        routes |= set(_table(vnet, subnet, accepted, number))
        policies |= {Rule(f"from {of}", number, FIRST) for of in _speakers(vnet, subnet["cidr"])}
    ways_out = [one["address"] for one in vnet["interfaces"] if one["outward"] and _open(vnet, one["address"])]
    return Router(
        frozenset(routes), frozenset(policies), rules.ruleset(vnet, accepted, ways_out, (MACHINE, GATEWAY, PEER))
    )


def _speakers(vnet: Mapping[str, Any], cidr: str) -> Iterator[str]:
    """What endpoints answer has the platform's address until it leaves."""
    yield cidr
    answering = [address for one in vnet["endpoints"] for address in one["addresses"]]
    if answering and _inside(f"{min(answering)}/32", [cidr]):
        yield PLATFORM


def peer_interface(peer: Mapping[str, Any]) -> str:
    return short_name(PEER, peer["wire"])


def wires(vnets: Iterable[Mapping[str, Any]], gateways: Iterable[Mapping[str, Any]]) -> Iterator[Wire]:
    """Between peers, and from gateways to the networks that use them: a peer's packets cross no other network."""
    there = {one["id"]: one for one in vnets}
    for vnet in there.values():
        for peer in vnet["peers"]:
            # Both halves tell of it; it is one wire.
            if vnet["id"] < peer["to"] and peer["to"] in there:
                yield Wire(vnet["id"], peer_interface(peer), peer["to"], peer_interface(peer))
    for gateway in gateways:
        for name in gateway["networks"]:
            if name in there:
                yield Wire(gateway["id"], short_name("v", name), name, short_name(GATEWAY, gateway["id"]))


def _system(vnet: Mapping[str, Any]) -> list[str]:
    return [*vnet["cidrs"], *(cidr for peer in vnet["peers"] for cidr in peer["cidrs"])]


def _inside(cidr: str, of: Iterable[str]) -> bool:
    return any(IPv4Network(cidr).subnet_of(IPv4Network(one)) for one in of)


def _table(vnet: Mapping[str, Any], subnet: Mapping[str, Any], accepted: list[str], number: int) -> Iterator[Route]:
    """A subnet's effective routes, as they hold for what its addresses send."""
    gateway = (short_name(GATEWAY, vnet["gateway"]),) if vnet["gateway"] else ()
    found = {f"{one}/32": Route(f"{one}/32", table=number, onward=True) for one in (METADATA, PLATFORM)}
    found |= {WORLD: Route(WORLD, table=number)}
    found |= {cidr: Route(cidr, table=number, onward=True) for cidr in vnet["cidrs"]}
    found |= {cidr: Route(cidr, (peer_interface(peer),), number) for peer in vnet["peers"] for cidr in peer["cidrs"]}
    if subnet["learns"]:
        found |= {cidr: Route(cidr, gateway, number) for cidr in accepted}
    for one in subnet["routes"]:
        interfaces = gateway if one["hop"] == TO_GATEWAY else ()
        found[one["cidr"]] = Route(one["cidr"], interfaces, number, onward=one["hop"] == ONWARD)
    yield from found.values()


def _open(vnet: Mapping[str, Any], address: str) -> bool:
    """Whether nobody leads the internet elsewhere in the address's subnet."""
    subnet = next((one for one in vnet["subnets"] if _inside(f"{address}/32", [one["cidr"]])), None)
    routes = subnet["routes"] if subnet else ()
    return all(one["hop"] == "Internet" for one in routes if one["cidr"] == WORLD)

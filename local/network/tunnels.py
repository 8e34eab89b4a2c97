"""Which tunnels are up: those of which both ends are there and know each other. Pure.

A site's gateway has whatever key and number it is asked for; of two clouds each says what it takes the other one for,
and where they do not agree the tunnel is down.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from .ends import Side, Site, Tunnel


def digest(key: str) -> str:
    """By which two ends see that they have one key."""
    return hashlib.sha256(key.encode()).hexdigest()


def up(world: Mapping[str, Any], sites: Iterable[Site]) -> list[Tunnel]:
    standing = list(sites)
    return [*_of_aws(world, standing), *_of_azure(world, standing)]


def _of_aws(world: Mapping[str, Any], sites: list[Site]) -> Iterator[Tunnel]:
    """With sites and with Azure."""
    numbers = {hub["id"]: hub["asn"] for hub in world["hubs"]}
    for one in world["connections"]:
        site = _site(one["device"], sites)
        here = Side(one["hub"], one["id"])
        for tunnel in one["tunnels"]:
            outside, mine = tunnel["outside"], (one["id"], tunnel["outside"])
            if tunnel["asked"] is False:
                continue
            if site:
                yield Tunnel(outside, here, Side(site.router), (mine,))
            elif found := _across(world, one, tunnel, numbers.get(one["hub"])):
                gateway, connection = found
                there = Side(gateway["id"], connection["id"])
                yield Tunnel(outside, here, there, (mine, (connection["id"], one["device"])))


def _across(
    world: Mapping[str, Any], of: Mapping[str, Any], tunnel: Mapping[str, Any], number: int | None
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Azure's gateway and its connection at the other end of a tunnel of AWS."""
    for gateway in world["gateways"]:
        for one in gateway["connections"]:
            if one["address"] == tunnel["outside"] and _agree(gateway, one, of, tunnel, number):
                return gateway, one
    return None


def _agree(
    gateway: Mapping[str, Any],
    theirs: Mapping[str, Any],
    ours: Mapping[str, Any],
    tunnel: Mapping[str, Any],
    number: int | None,
) -> bool:
    """AWS has the first address inside and Azure the second one; one of them has to begin."""
    first, second = (str(one) for one in IPv4Network(tunnel["inside"]).hosts())
    ends = [(one["outside"], one["inside"]) for one in theirs["ends"] if one["asked"] is not False]
    return (
        theirs["bgp"]
        and (ours["device"], second) in ends
        and theirs["bgp_address"] == first
        and theirs["key"] == tunnel["key"]
        and (theirs["asn"], gateway["asn"]) == (number, ours["asn"])
        and (tunnel["begins"] or not theirs["answers"])
    )


def _of_azure(world: Mapping[str, Any], sites: list[Site]) -> Iterator[Tunnel]:
    """With sites: one connection has a tunnel with each instance of the gateway."""
    for gateway in world["gateways"]:
        for one in gateway["connections"]:
            site = _site(one["address"], sites) if one["bgp"] else None
            for end in one["ends"] if site else ():
                if site and end["asked"] is not False:
                    name = f"{end['outside']} {one['address']}"
                    here = Side(gateway["id"], one["id"])
                    yield Tunnel(name, here, Side(site.router), ((one["id"], end["outside"]),))


def _site(address: str, sites: list[Site]) -> Site | None:
    return next((site for site in sites if address in site.gateways), None)

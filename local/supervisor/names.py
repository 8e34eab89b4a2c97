"""Hosts files, for machines and for the local cloud itself, from private zones, balancers and clouds' own names."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from types import MappingProxyType
from typing import Any

from local.aws.front import ADDRESS
from local.aws.names import DOMAIN, names
from local.azure.names import ADDRESS as AZURE_ADDRESS


def of_network(world: dict[str, Any], vpc: str) -> str:
    """What machines in a network can resolve. A name that is not here does not resolve."""
    found = [end for one in world["networks"] if one["id"] == vpc for end in one["endpoints"] if end["named"]]
    private = {f"{end['named']}.{end['region']}.{DOMAIN}": end["addresses"] for end in found}
    return _clouds(world, private) + _text(world, {vpc})


def of_sites(world: dict[str, Any]) -> str:
    """What hosts of sites can resolve: what a region's network knows that they can ask for names."""
    return _clouds(world) + _text(world, {network for network, _ in world["resolvers"]})


def of_cloud(world: dict[str, Any]) -> str:
    """What the local cloud itself can resolve: all zones' records, and AWS's buckets: Azure reads issuers there."""
    known = names(world["regions"], [tuple(pair) for pair in world["buckets"]])
    return "".join(f"{ADDRESS} {name}\n" for name in sorted(known) if ".s3." in name) + _text(world, None)


def _clouds(world: dict[str, Any], private: Mapping[str, list[str]] = MappingProxyType({})) -> str:
    """`private` are the addresses of those names that lead to endpoints of the network's own."""
    found = dict.fromkeys(names(world["regions"], [tuple(pair) for pair in world["buckets"]]), ADDRESS)
    found |= dict.fromkeys(world["names"], AZURE_ADDRESS)
    return "".join(f"{at} {name}\n" for name in sorted(found) for at in private.get(name, [found[name]]))


def _text(world: dict[str, Any], vpcs: Set[str] | None) -> str:
    by_address: dict[str, list[str]] = defaultdict(list)
    for name, address in _pairs(world, vpcs):
        if name not in by_address[address]:
            by_address[address].append(name)
    return "".join(f"{address} {' '.join(found)}\n" for address, found in sorted(by_address.items()))


def _pairs(world: dict[str, Any], vpcs: Set[str] | None) -> Iterator[tuple[str, str]]:
    balancers = {one["dns"].lower(): [address for _, address in one["places"]] for one in world["balancers"]}
    yield from ((name, address) for name, addresses in sorted(balancers.items()) for address in addresses)
    records = list(_records(world, vpcs))
    direct = {name: addresses for name, alias, addresses in records if not alias}
    for name, alias, addresses in sorted(records):
        if "*" in name:  # no hosts file can say it
            continue
        for address in balancers.get(alias.lower(), direct.get(alias, [])) if alias else addresses:
            yield name, address


def _records(world: dict[str, Any], vpcs: Set[str] | None) -> Iterator[Any]:
    """Of zones that one of the networks knows, and of those that one of them asks others for; None: of all.

    Whom it asks asks nobody else: no rule of a fleet's leads on.
    """
    for zone in world["zones"]:
        if vpcs is None or not vpcs.isdisjoint(zone["vpcs"]):
            yield from zone["records"]
    if vpcs is None:
        return
    for rule in world["forwards"]:
        if vpcs.isdisjoint(rule["vpcs"]):
            continue
        resolving = {network for network, at in world["resolvers"] if not set(at).isdisjoint(rule["targets"])}
        for zone in world["zones"]:
            if not resolving.isdisjoint(zone["vpcs"]):
                yield from (one for one in zone["records"] if f".{one[0]}".endswith(f".{rule['domain']}"))

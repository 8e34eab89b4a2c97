"""Private DNS zones, with the networks that they are linked with and their record sets."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from .. import ids
from ..answers import tell
from ..errors import ArmError, bad_request, conflict
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..regions import GLOBAL
from ..store import Resource
from . import common

ZONE, LINK = "Microsoft.Network/privateDnsZones", "Microsoft.Network/privateDnsZones/virtualNetworkLinks"
NETWORK = "Microsoft.Network/virtualNetworks"
ZONE_GROUP = "Microsoft.Network/privateEndpoints/privateDnsZoneGroups"
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.IGNORECASE)
MOST_SETS, MOST_LINKS, MOST_REGISTERING = 25_000, 1_000, 100
MOST_TTL = 2_147_483_647
# Type → the property that holds its records, and what one of them has.
RECORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "A": ("aRecords", ("ipv4Address",)),
    "AAAA": ("aaaaRecords", ("ipv6Address",)),
    "CNAME": ("cnameRecord", ("cname",)),
    "MX": ("mxRecords", ("preference", "exchange")),
    "PTR": ("ptrRecords", ("ptrdname",)),
    "SOA": ("soaRecord", ("host", "email", "serialNumber", "refreshTime", "retryTime", "expireTime", "minimumTtl")),
    "SRV": ("srvRecords", ("priority", "weight", "port", "target")),
    "TXT": ("txtRecords", ("value",)),
}
SOA = {
    "email": "azureprivatedns-host.microsoft.com",
    "host": "azureprivatedns.net",
    "serialNumber": 1,
    "refreshTime": 3600,
    "retryTime": 300,
    "expireTime": 2_419_200,
    "minimumTtl": 10,
}


def _global(write: Write) -> None:
    if write.new.location != GLOBAL:
        raise bad_request(
            "LocationNotAvailableForResourceType",
            f"{write.id.text} is in '{write.new.location}'; it must be in 'global'.",
        )


def _zone(write: Write) -> None:
    _global(write)
    labels = write.id.name.split(".")
    if not 2 <= len(labels) <= 34 or not all(LABEL.fullmatch(one) for one in labels):
        raise common.invalid(f"'{write.id.name}' is no name of a private DNS zone.")


def _begin(write: Write) -> None:
    soa = ids.parse(f"{write.id.text}/SOA/@")
    if write.world.store.find(soa) is None:
        write.world.store.put(Resource(soa, {"properties": {"ttl": 3600, "soaRecord": dict(SOA)}}))


def _keep_zone(write: Write) -> None:
    common.refuse_nested(write, LINK)


def sets(world: World, zone: Resource) -> Iterator[Resource]:
    for one in world.store.children(zone):
        if not ids.same(one.id.type, LINK):
            yield one


def _computed_zone(world: World, zone: Resource) -> dict[str, Any]:
    return {
        "maxNumberOfRecordSets": MOST_SETS,
        "numberOfRecordSets": len(list(sets(world, zone))),
        "maxNumberOfVirtualNetworkLinks": MOST_LINKS,
        "numberOfVirtualNetworkLinks": len(list(world.store.children(zone, LINK))),
        "maxNumberOfVirtualNetworkLinksWithRegistration": MOST_REGISTERING,
        "numberOfVirtualNetworkLinksWithRegistration": 0,
    }


def _all(write: Write, method: str) -> dict[str, Any]:
    """…/ALL: the record sets of every type."""
    if method != "GET":
        raise ArmError(405, "MethodNotAllowed", f"{method} is not allowed on all of a zone.")
    return {"value": [tell(write.world, one) for one in sets(write.world, write.new)]}


def _link(write: Write) -> None:
    _global(write)
    network = require(
        write, write.properties.get("virtualNetwork"), "properties.virtualNetwork.id", NETWORK, near=False
    )
    common.only_id(write.properties, "virtualNetwork")
    if write.properties.setdefault("registrationEnabled", False) is not False:
        raise common.invalid(
            f"{write.id.text}: the local Azure registers no machine's name; registrationEnabled is false."
        )
    common.pick(write, write.properties, "resolutionPolicy", ("Default", "NxDomainRedirect"), "Default")
    if write.old and not ids.same(write.old.properties["virtualNetwork"]["id"], network.id.text):
        raise common.invalid(f"The network of {write.id.text} cannot be changed.")
    for other in write.world.store.all(LINK):
        if other.id.key == write.id.key or not ids.same(other.properties["virtualNetwork"]["id"], network.id.text):
            continue
        if ids.same(other.id.names[0], write.id.names[0]):
            message = (
                "A virtual network cannot be linked to multiple zones with overlapping namespaces. "
                f"{network.id.text} is linked by {other.id.text}."
            )
            raise conflict("Conflict", message)


def _linked(write: Write) -> None:
    write.properties["virtualNetworkLinkState"] = "Completed"


def _record(write: Write) -> None:
    sort = write.id.types[-1].upper()
    at, fields = RECORDS[sort]
    properties = write.properties
    labels = write.id.name.split(".")
    if write.id.name != "@" and not all(LABEL.fullmatch(one) or one == "*" for one in labels):
        raise common.invalid(f"'{write.id.name}' is no name of a record set.")
    if strange := sorted(properties.keys() - {at, "ttl", "metadata", "provisioningState"}):
        raise common.invalid(f"Could not find member '{strange[0]}' on a record set of type {sort}.")
    common.number(write, properties, "ttl", 1, MOST_TTL, 3600)
    records: list[Any] = (properties.get(at) or []) if at.endswith("s") else [properties.get(at)]
    if not records or not all(isinstance(one, dict) and set(one) == set(fields) for one in records):
        raise common.invalid(f"{write.id.text} needs '{at}', with {', '.join(fields)} each.")
    for one in records:
        _valid(write, sort, one)
    _alone(write, sort)


def _valid(write: Write, sort: str, record: dict[str, Any]) -> None:
    try:
        if sort == "A":
            IPv4Address(record["ipv4Address"])
        elif sort == "AAAA":
            IPv6Address(record["ipv6Address"])
    except ValueError as error:
        raise common.invalid(f"{write.id.text}: {error}.") from None
    if sort == "TXT" and not all(isinstance(one, str) and len(one) <= 255 for one in record["value"]):
        raise common.invalid(f"{write.id.text}: a string of a TXT record has 255 characters at most.")


def _alone(write: Write, sort: str) -> None:
    """A CNAME has its name to itself (RFC 1034, 3.6.2)."""
    if sort == "CNAME" and write.id.name == "@":
        raise common.invalid(f"{write.id.text}: there is no CNAME at a zone's beginning.")
    for other in sets(write.world, write.parent):
        both = (sort, other.id.types[-1].upper())
        if ids.same(other.id.name, write.id.name) and both[0] != both[1] and "CNAME" in both:
            message = f"{write.id.text} and {other.id.text} have one name, and one of them is a CNAME."
            raise conflict("Conflict", message)


def _keep_soa(write: Write) -> None:
    if ids.same(write.id.types[-1], "SOA"):
        raise bad_request("BadRequest", f"The SOA record set of {write.parent.id.name} cannot be deleted.")


def _computed_record(_: World, record: Resource) -> dict[str, Any]:
    zone = record.id.names[0]
    name = f"{zone}." if record.id.name == "@" else f"{record.id.name}.{zone}."
    return {"fqdn": name, "isAutoRegistered": False}


READ_ONLY = (
    *("maxNumberOfRecordSets", "numberOfRecordSets", "maxNumberOfVirtualNetworkLinks", "internalId"),
    *("numberOfVirtualNetworkLinks", "maxNumberOfVirtualNetworkLinksWithRegistration"),
    "numberOfVirtualNetworkLinksWithRegistration",
)
KINDS = (
    Kind(
        ZONE,
        check=_zone,
        settle=_begin,
        removing=_keep_zone,
        computed=_computed_zone,
        views={"ALL": _all},
        known=frozenset(("provisioningState",)),
        read_only=READ_ONLY,
        free=frozenset((ZONE_GROUP,)),
        slow=SLOW,
    ),
    Kind(
        LINK,
        check=_link,
        settle=_linked,
        known=frozenset(("virtualNetwork", "registrationEnabled", "resolutionPolicy")),
        read_only=("virtualNetworkLinkState",),
        slow=SLOW,
    ),
    *(
        Kind(
            f"{ZONE}/{sort}",
            tracked=False,
            check=_record,
            removing=_keep_soa,
            computed=_computed_record,
            read_only=("fqdn", "isAutoRegistered"),
            stateless=True,
        )
        for sort in RECORDS
    ),
)

"""What a region must keep to: its cloud's names, zones and account, and BGP numbers that no two ends share."""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from . import buckets, hubs
from .model import Cloud, Fleet

Wrong = tuple[tuple[str | int, ...], str, str]
CLOUDS: Mapping[Cloud, str] = {"aws": "AWS", "azure": "Azure"}
ZONES: Mapping[Cloud, set[str]] = {"aws": set("abcdef"), "azure": {"1", "2", "3"}}
ACCOUNTS: Mapping[Cloud, str] = {
    "aws": "aws: {account_id: …}",
    "azure": "azure: {subscription_id: …, tenant_id: …}",
}
PRIVATE_ASNS = range(64512, 65535)
# "About BGP and VPN Gateway": what Azure keeps for itself. What IANA keeps, it refuses as well.
AZURE_ASNS = (8074, 8075, 12076, 65515, *range(65517, 65521))
IANA_ASNS = (23456, *range(64496, 64512), *range(65535, 65552))
# "Resolve errors for reserved resource names": of what has a name in DNS, such as a storage account or a vault.
RESERVED_WORDS, RESERVED_BEGINNING = ("microsoft", "windows"), "login"


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    yield from _zones(fleet)
    yield from _names(fleet)
    yield from _accounts(fleet)
    yield from _asns(fleet)
    yield from _words(fleet)


def known(names: Iterable[str]) -> str:
    return f"Known: {', '.join(sorted(names)) or 'none'}"


def _zones(fleet: Fleet) -> Iterator[Wrong]:
    for name, region in fleet.regions.items():
        zones = ZONES[region.cloud]
        for n, zone in enumerate(region.zones):
            if zone not in zones:
                what = f"zone {zone!r} of {name} is none that {region.cloud} has"
                yield ("regions", name, "zones", n), what, known(zones)
            elif zone in region.zones[:n]:
                yield ("regions", name, "zones", n), f"zone {zone} of {name} stands twice", "Remove one of them"
    for name, pool in fleet.pools.items():
        region_zones = fleet.regions[pool.region].zones if pool.region in fleet.regions else pool.zones
        for n, zone in enumerate(pool.zones):
            if zone not in region_zones:
                what = f"pool {name} uses zone {zone}, which {pool.region} does not declare"
                yield ("pools", name, "zones", n), what, known(region_zones)


def _names(fleet: Fleet) -> Iterator[Wrong]:
    for name, region in fleet.regions.items():
        names = hubs.REGIONS[region.cloud]
        if name not in names:
            others = [CLOUDS[cloud] for cloud, theirs in hubs.REGIONS.items() if name in theirs]
            close = difflib.get_close_matches(name, names, 1)
            what = f"{CLOUDS[region.cloud]} has no region {name} that is known here"
            remedy = f"Perhaps you mean {close[0]}" if close else known(names)
            yield ("regions", name), what, f"It is a region of {others[0]}" if others else remedy
        if name in fleet.sites:
            what = f"site {name} is called like a region, and each has names of machines below its own"
            yield ("sites", name), what, "Give the site another name"


def _accounts(fleet: Fleet) -> Iterator[Wrong]:
    accounts = {"aws": fleet.aws, "azure": fleet.azure}
    for name, region in fleet.regions.items():
        if accounts[region.cloud] is None:
            what = f"region {name} is in {region.cloud}, but the fleet names no {region.cloud} account"
            remedy = f"Add {ACCOUNTS[region.cloud]} at the top, the only account the fleet may touch"
            yield ("regions", name), what, remedy


def _asns(fleet: Fleet) -> Iterator[Wrong]:
    for name, site in fleet.sites.items():
        entry, asn = ("sites", name, "asn"), site.asn
        if asn in AZURE_ASNS:
            yield entry, f"asn {asn} is kept by Azure's gateways", "Choose another, such as 65010"
        elif asn in IANA_ASNS:
            yield entry, f"asn {asn} is kept by IANA, and refused by clouds", "Choose another, such as 65010"
        elif asn not in PRIVATE_ASNS:
            remedy = "Choose one from 64768 to 65534, such as 65010 (AWS refuses the 4-byte private range)"
            yield entry, f"asn {asn} is not private", remedy
        elif asn in hubs.RESERVED_ASNS:
            what = f"asn {asn} lies in 64512-64767, which the regions' gateways use"
            yield entry, what, "Choose one from 64768 to 65534, such as 65010"


def _words(fleet: Fleet) -> Iterator[Wrong]:
    """The fleet's name and the region's are the beginning of names in Azure's public domains."""
    for name, region in fleet.regions.items():
        beginning = buckets.readable(fleet, name)
        found = [word for word in RESERVED_WORDS if word in beginning]
        found += [RESERVED_BEGINNING] if beginning.startswith(RESERVED_BEGINNING) else []
        for word in found if region.cloud == "azure" else ():
            what = (
                f"names of accounts and vaults in {name} would begin with {beginning}, and Azure refuses those with "
                f"{word} in them"
            )
            yield ("fleet",), what, f"Choose another name than {fleet.fleet}"

"""The port matrix: who may reach whom, on what, and why. Security groups are compiled from it and from nothing else."""

from collections.abc import Mapping
from typing import NamedTuple

from fleet.address.plan import AddressPlan
from fleet.model import Fleet, Ingress

from .resolver import others

WORLD = "world"


class Row(NamedTuple):
    """Machines of role `to` accept `port` from the prefixes of role `source`."""

    to: str
    source: str
    protocol: str
    port: int
    why: str


MATRIX: tuple[Row, ...] = (
    Row("endpoints", "regions", "tcp", 443, "machines reach APIs of the cloud without the internet"),
    Row("endpoints", "sites", "tcp", 443, "site hosts fetch bundles and keys through the tunnel"),
    Row("names", "sites", "udp", 53, "site hosts ask for names of the fleet"),
    Row("names", "sites", "tcp", 53, "the same, where an answer is larger than a packet"),
    Row("names", "clouds", "udp", 53, "regions of another cloud ask for names that theirs does not know"),
    Row("names", "clouds", "tcp", 53, "the same, where an answer is larger than a packet"),
    Row("shares", "regions", "tcp", 2049, "machines of every region mount the shares (NFS 4 only)"),
    Row("shares", "sites", "tcp", 2049, "site hosts mount the shares (NFS 4 only)"),
)


class Rule(NamedTuple):
    """One ingress rule of one security group; `name` depends on who may come in, never on a position."""

    name: str
    cidr: str
    protocol: str
    port: int
    why: str


class Group(NamedTuple):
    """A security group with all its ingress rules. Egress stays empty: answers to what came in need no rule."""

    name: str
    description: str
    rules: tuple[Rule, ...]


def sources(fleet: Fleet, plan: AddressPlan, region_name: str) -> dict[str, dict[str, str]]:
    """Prefixes by role and name: `clouds` are regions in another cloud than this one.

    The region's own machines live in its network, not in all of its block.
    """
    aggregates = plan.aggregates()
    regions = {name.replace("/", "-"): cidr for name, cidr in aggregates.items() if name.startswith("region/")}
    regions[f"region-{region_name}"] = plan.region(region_name).network
    clouds = {f"region-{name}": aggregates[f"region/{name}"] for name in others(fleet, region_name)}
    sites = {name.replace("/", "-"): cidr for name, cidr in aggregates.items() if name.startswith("site/")}
    return {"regions": regions, "sites": sites, "clouds": clouds}


def groups(prefixes: Mapping[str, Mapping[str, str]], ingress: list[Ingress]) -> list[Group]:
    """Security groups of a region's network. `world` is there if the fleet opens a port, `names` if anybody asks."""
    rules: dict[str, list[Rule]] = {row.to: [] for row in MATRIX}
    for row in MATRIX:
        for name, cidr in sorted(prefixes[row.source].items()):
            what = f"{row.port}" if row.protocol == "tcp" else f"{row.protocol}-{row.port}"
            rules[row.to].append(Rule(f"{name}-{what}", cidr, row.protocol, row.port, row.why))
    for item in ingress:
        name = f"{item.protocol}-{item.port}-{item.cidr.replace('/', '-')}"
        rules.setdefault(WORLD, []).append(Rule(name, item.cidr, item.protocol, item.port, item.why))
    return [Group(name, DESCRIPTIONS[name], tuple(found)) for name, found in sorted(rules.items()) if found]


# AWS replaces a group when its description changes: never reword one.
DESCRIPTIONS = {
    "endpoints": "Endpoints of APIs of the cloud",
    "names": "Where sites ask for names",
    "shares": "Mount targets of the shares",
    WORLD: "Ports that the fleet opens to the world",
}

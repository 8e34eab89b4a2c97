"""What the picture says of each region and site, in words: pure."""

from collections.abc import Iterator
from typing import NamedTuple

from components.links.plan import crossings, tunnels
from fleet import hubs
from fleet.address.plan import AddressPlan
from fleet.model import Fleet, Pool
from fleet.regions import CLOUDS


class Row(NamedTuple):
    """A line: what it is about, and a value or more. `address`: they are prefixes, addresses or numbers.

    `bad`: somebody should look. The page around the picture says how such words look, and each `look` of a bar.
    """

    key: str
    values: tuple[str, ...]
    address: bool = False
    bad: bool = False


class Piece(NamedTuple):
    """A piece of a bar, as long as its number."""

    look: str
    number: int
    words: str


class Part(NamedTuple):
    """Something that stands in a region or site: a control plane, or a pool."""

    kind: str
    name: str
    rows: tuple[Row, ...]


class Card(NamedTuple):
    """A region or a site. `badge` is the cloud, or what a site is called."""

    kind: str
    name: str
    badge: str
    rows: tuple[Row, ...]
    parts: tuple[Part, ...] = ()
    bar: tuple[Piece, ...] = ()


def regions(fleet: Fleet, plan: AddressPlan) -> list[Card]:
    """Prefixes of tunnels between two clouds stand at Azure's end, which has all of them."""
    found, cross_cloud = [], crossings(fleet, plan)
    for name, region in fleet.regions.items():
        planned = plan.region(name)
        rows = [
            Row("route", (planned.block,), address=True),
            Row("network", (planned.network,), address=True),
            Row("zones", (" ".join(region.zones),)),
        ]
        if planned.laptops:
            rows.append(Row("laptops", planned.laptops, address=True))
        rows.append(Row("ASN", (str(hubs.asn(name)),), address=True))
        for aws in dict.fromkeys(one.aws for one in cross_cloud if one.azure == name):
            inside = tuple(one.inside_cidr for one in cross_cloud if (one.aws, one.azure) == (aws, name))
            rows.append(Row(f"to {aws}", inside, address=True))
        parts = (*_control_planes(fleet, plan, name), *_pools(fleet, region=name))
        found.append(Card("region", name, CLOUDS[region.cloud], tuple(rows), parts))
    return found


def sites(fleet: Fleet, plan: AddressPlan) -> list[Card]:
    found, to_regions = [], tunnels(fleet, plan)
    for name, site in fleet.sites.items():
        planned = plan.site(name)
        rows = [
            Row("route", (planned.block,), address=True),
            Row("LAN", (planned.lan,), address=True),
            Row("gateways" if len(site.gateways) > 1 else "gateway", tuple(site.gateways), address=True),
            Row("ASN", (str(site.asn),), address=True),
        ]
        if site.nfs:
            rows.append(Row("NFS", (site.nfs,)))
        for region in fleet.regions:
            inside = tuple(one.inside_cidr for one in to_regions if (one.site, one.region) == (name, region))
            rows.append(Row(f"to {region}", inside, address=True))
        found.append(Card("site", name, "site", tuple(rows), tuple(_pools(fleet, site=name))))
    return found


def _control_planes(fleet: Fleet, plan: AddressPlan, region: str) -> Iterator[Part]:
    for name, cluster in fleet.clusters.items():
        if cluster.region != region:
            continue
        planned = plan.cluster(name)
        rows = (
            Row("Kubernetes", (cluster.kubernetes,)),
            Row("machines", (f"{cluster.api_servers} API, {cluster.etcd_members} etcd",)),
            Row("pods", (planned.pods,), address=True),
            Row("services", (planned.services,), address=True),
        )
        yield Part("cluster", name, rows)


def _pools(fleet: Fleet, region: str | None = None, site: str | None = None) -> Iterator[Part]:
    """Those that are filled first come first."""
    here = [(name, pool) for name, pool in fleet.pools.items() if (pool.region, pool.site) == (region, site)]
    for name, pool in sorted(here, key=lambda one: -one[1].priority):
        yield Part(pool.kind, name, tuple(_pool(fleet, pool)))


def _pool(fleet: Fleet, pool: Pool) -> Iterator[Row]:
    if pool.site:
        hosts = [fleet.sites[pool.site].hosts[one] for one in pool.hosts]
        yield Row("hosts", (str(len(hosts)),))
        if gpus := sum(one.gpus for one in hosts):
            kinds = " ".join(sorted({one.gpu for one in hosts if one.gpu}))
            yield Row("GPUs", (f"{gpus:,} {kinds}".strip(),))
        return
    if pool.instance_type:
        yield Row("machines", (f"{pool.min}-{pool.max} {pool.instance_type}{' spot' if pool.spot else ''}",))
    if pool.gpus:
        yield Row("GPUs", (f"up to {pool.max * pool.gpus:,}",))

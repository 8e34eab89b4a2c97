"""What needs two entries to decide: a table of small checks, each yielding what is wrong and what would be right."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from . import (
    caps,
    cloud_alarms,
    gpus,
    monitoring,
    pairs,
    people,
    pools,
    prices,
    quotas,
    regions,
    room,
    shape_rules,
    shapes,
    shares,
    state,
    team_queues,
    team_storage,
    windows,
)
from .address import reserved, sizes
from .address.blocks import Block, overlaps, parse
from .model import Fleet, Pool


class Violation(NamedTuple):
    """`entry` is the path of the entry in the file that should change."""

    entry: tuple[str | int, ...]
    what: str
    remedy: str


Rule = Callable[[Fleet], Iterator[Violation]]
PRIVATE = tuple(parse(cidr) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))

API_PORT = 6443
# Minor versions that are tested, with the binaries that tools/ pins.
KUBERNETES = ("1.35", "1.36")
# First folders of the fleet bucket. A fleet of that name would lay bundles where machines may write.
BUCKET_FOLDERS = ("audit", "backups", "copies", "flow-logs", "nfs", team_storage.FOLDER)
CERTIFICATE_NAME = 64  # X.509's bound of a common name, which is a machine's full name


def violations(fleet: Fleet, *, fetched: bool = True) -> list[Violation]:
    """Every rule over the whole fleet; without those that go by fetched prices and shapes, unless it is `fetched`."""
    return [violation for rule in RULES if fetched or rule not in FETCHED for violation in rule(fleet)]


def _all_cidrs(fleet: Fleet) -> Iterator[tuple[tuple[str | int, ...], str]]:
    yield ("supernet",), fleet.supernet
    for n, item in enumerate(fleet.reserved):
        yield ("reserved", n, "cidr"), item.cidr
    for n, port in enumerate(fleet.ingress):
        yield ("ingress", n, "cidr"), port.cidr
    for kind, entries in (("regions", fleet.regions), ("sites", fleet.sites), ("clusters", fleet.clusters)):
        for name, entry in entries.items():
            if entry.cidr:
                yield (kind, name, "cidr"), entry.cidr


def _supernet(fleet: Fleet) -> Iterator[Violation]:
    supernet = parse(fleet.supernet)
    if not any(private.holds(supernet) for private in PRIVATE):
        remedy = "Choose a prefix inside 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or 100.64.0.0/10"
        yield Violation(("supernet",), f"supernet {supernet} is not private address space", remedy)
    elif supernet.length > 16:
        yield Violation(("supernet",), f"supernet {supernet} is too small", "Choose a /16 or larger")


def _references(fleet: Fleet) -> Iterator[Violation]:
    wanted: list[tuple[tuple[str | int, ...], str, str, Iterable[str]]] = [
        (("owner",), "team", fleet.owner, fleet.teams)
    ]
    for name, cluster in fleet.clusters.items():
        named = [("region", cluster.region), *([("copies", cluster.copies)] if cluster.copies else [])]
        wanted += [(("clusters", name, key), "region", region, fleet.regions) for key, region in named]
    wanted += [(("people", name, "team"), "team", person.team, fleet.teams) for name, person in fleet.people.items()]
    for name, team in fleet.teams.items():
        wanted += [(("teams", name, "queues", cluster), "cluster", cluster, fleet.clusters) for cluster in team.queues]
    for name, pool in fleet.pools.items():
        wanted.append((("pools", name, "cluster"), "cluster", pool.cluster, fleet.clusters))
        wanted.append((("pools", name, "owner"), "team", pool.owner, fleet.teams))
        if pool.region:
            wanted.append((("pools", name, "region"), "region", pool.region, fleet.regions))
        if pool.site:
            wanted.append((("pools", name, "site"), "site", pool.site, fleet.sites))
    for name, site in fleet.sites.items():
        if site.nfs:
            wanted.append((("sites", name, "nfs"), "host", site.nfs, site.hosts))
    for path, kind, target, known in wanted:
        if target not in known:
            where = ".".join(str(part) for part in path)
            yield Violation(path, f"{where} names the {kind} {target}, which is not declared", regions.known(known))


def _unique(fleet: Fleet) -> Iterator[Violation]:
    owners: dict[tuple[str, object], str] = {}
    claims: list[tuple[tuple[str | int, ...], str, object, str]] = []
    claims += [(("people", n, "uid"), "uid", p.uid, f"people.{n}") for n, p in fleet.people.items()]
    claims += [(("teams", n, "gid"), "gid", t.gid, f"teams.{n}") for n, t in fleet.teams.items()]
    claims += [(("sites", n, "asn"), "asn", s.asn, f"sites.{n}") for n, s in fleet.sites.items()]
    for n, site in fleet.sites.items():
        claims += [(("sites", n, "gateways", i), "gateway", g, f"sites.{n}") for i, g in enumerate(site.gateways)]
        hosts = [(h, host.address) for h, host in site.hosts.items() if host.address]
        claims += [(("sites", n, "hosts", h), "address", a, f"sites.{n}.hosts.{h}") for h, a in hosts]
    for path, kind, value, owner in claims:
        other = owners.setdefault((kind, value), owner)
        if other is not owner:
            yield Violation(path, f"{kind} {value} of {owner} is {other}'s already", f"Give {owner} another {kind}")


def _pool_place(fleet: Fleet) -> Iterator[Violation]:
    for name, pool in fleet.pools.items():
        if (pool.region is None) == (pool.site is None):
            what = f"pool {name} names {'both a region and a site' if pool.region else 'neither a region nor a site'}"
            yield Violation(("pools", name), what, "Name exactly one: a pool stands in one region or at one site")


def _pool_machines(fleet: Fleet) -> Iterator[Violation]:
    for name, pool in fleet.pools.items():
        region = fleet.regions.get(pool.region or "")
        for wrong, what, remedy in _machine_checks(pool, shapes.FORMS[region.cloud if region else "aws"][1]):
            if wrong:
                yield Violation(("pools", name), f"pool {name} {what}", remedy)
        if pool.site in fleet.sites:
            yield from _pool_hosts(fleet, name, pool)


def _machine_checks(pool: Pool, example: str) -> Iterator[tuple[bool, str, str]]:
    in_region, at_site = pool.region is not None and not pool.site, pool.site is not None and not pool.region
    yield (
        in_region and not pool.instance_type,
        "has no instance_type",
        f"Name the cloud's machine type, such as {example}",
    )
    yield in_region and bool(pool.hosts), "stands in a region and lists hosts", "Hosts belong to sites: remove them"
    yield in_region and pool.max < pool.min, f"has max {pool.max} below min {pool.min}", "Raise max or lower min"
    yield in_region and pool.max == 0, "has max 0 and could never hold a machine", "Give it a max"
    yield (
        in_region and pool.kind == "gpu" and not pool.gpus,
        "is of kind gpu and says no gpus",
        "Say how many GPUs one machine has",
    )
    yield (
        pool.kind in ("cpu", "system") and pool.gpus > 0,
        f"is of kind {pool.kind} and has gpus",
        "Make it kind gpu or ssh, or remove gpus",
    )
    yield (
        at_site and bool(pool.instance_type),
        "stands at a site and names an instance_type",
        "A site's machines are its hosts: remove it",
    )
    yield at_site and not pool.hosts, "stands at a site and lists no hosts", "List the hosts that belong to it"
    yield (
        at_site and (pool.spot or pool.min > 0 or pool.max > 0),
        "stands at a site and asks for spot, min or max",
        "A site's pool is its hosts: remove them",
    )
    yield (
        at_site and pool.channel != "stable",
        "stands at a site and names a channel",
        "No cloud starts its hosts from an image: remove it",
    )
    few = pool.kind == "system" and in_region and (pool.min < 2 or len(pool.zones) == 1)
    yield few, "of kind system needs two machines in two zones", "Set min to 2 or more and at least two zones"


def _pool_hosts(fleet: Fleet, name: str, pool: Pool) -> Iterator[Violation]:
    assert pool.site is not None
    hosts = fleet.sites[pool.site].hosts
    for n, host in enumerate(pool.hosts):
        if host not in hosts:
            what = f"pool {name} lists the host {host}, which site {pool.site} does not have"
            yield Violation(("pools", name, "hosts", n), what, regions.known(hosts))
        elif pool.kind == "gpu" and hosts[host].gpus == 0:
            what = f"pool {name} is of kind gpu and its host {host} has no gpus"
            yield Violation(("pools", name, "hosts", n), what, "Say the host's gpus, or take it out")
        others = [other for other, p in fleet.pools.items() if other < name and p.site == pool.site and host in p.hosts]
        if others or host in pool.hosts[:n]:
            what = f"host {host} is listed by pool {name} and by {others[0] if others else 'the same pool again'}"
            yield Violation(("pools", name, "hosts", n), what, "A host belongs to one pool")


def _hosts_addresses(fleet: Fleet) -> Iterator[Violation]:
    for name, site in fleet.sites.items():
        if site.cidr is None and any(host.address for host in site.hosts.values()):
            remedy = "Pin the site's cidr, or leave the addresses to the plan"
            yield Violation(("sites", name), f"site {name} fixes addresses of hosts but not its cidr", remedy)
        for host_name, host in site.hosts.items():
            if site.cidr and host.address and not parse(site.cidr).holds(parse(f"{host.address}/32")):
                what = f"host {host_name} has {host.address}, outside {name}'s {site.cidr}"
                yield Violation(("sites", name, "hosts", host_name), what, "Correct the address or the site's cidr")
            if site.cidr and len(site.gateways) > 1 and host.address in pairs.all_of(site.cidr):
                what = f"host {host_name} has {host.address}, which is kept for the pair of gateways of {name}"
                yield Violation(("sites", name, "hosts", host_name), what, "Give it another address")


def _gateways_public(fleet: Fleet) -> Iterator[Violation]:
    for name, site in fleet.sites.items():
        for n, gateway in enumerate(site.gateways):
            if any(private.holds(parse(f"{gateway}/32")) for private in PRIVATE):
                what = f"gateway {gateway} of {name} is a private address"
                yield Violation(
                    ("sites", name, "gateways", n), what, "Give the public address that the clouds see, also behind NAT"
                )


def _pins(fleet: Fleet) -> Iterator[Violation]:
    named: list[tuple[str, Block]] = []
    paths: dict[str, tuple[str | int, ...]] = {}
    for path, cidr in _all_cidrs(fleet):
        if path[0] in ("supernet", "ingress"):
            continue
        block, name = parse(cidr), ".".join(str(part) for part in path[:2])
        named.append((name, block))
        paths[name] = path
        if path[0] != "reserved" and (why := reserved.why_reserved(block)) and path[0] != "sites":
            yield Violation(
                path, f"{name} can't be pinned to {block}: {why}", "Pin another prefix or leave it to the plan"
            )
    for first, second in overlaps(named):
        yield Violation(paths[second], f"{second} overlaps {first}", "Change one of the two")
    for name, region in fleet.regions.items():
        size = sizes.REGIONS[region.size]
        if region.cidr and parse(region.cidr).length > size.network - (1 if region.laptops else 0):
            what = f"{region.cidr} is too small for {name}: size {region.size} needs a /{size.network} network in it"
            yield Violation(("regions", name, "cidr"), what, f"Pin a /{size.block}, or choose a smaller size")
    for name, cluster in fleet.clusters.items():
        if cluster.cidr and parse(cluster.cidr).length > sizes.CLUSTERS[cluster.size].block:
            what = f"{cluster.cidr} is too small for cluster {name} of size {cluster.size}"
            yield Violation(
                ("clusters", name, "cidr"),
                what,
                f"Pin a /{sizes.CLUSTERS[cluster.size].block} or choose a smaller size",
            )


def _ingress(fleet: Fleet) -> Iterator[Violation]:
    by_port: dict[tuple[str, int, str], int] = defaultdict(int)
    for n, item in enumerate(fleet.ingress):
        by_port[item.protocol, item.port, item.cidr] += 1
        if by_port[item.protocol, item.port, item.cidr] > 1:
            yield Violation(
                ("ingress", n), f"{item.protocol} {item.port} from {item.cidr} stands twice", "Remove one of them"
            )
        if item.port == 22 and item.cidr == "0.0.0.0/0":
            remedy = "Name the addresses that may, or come in through the VPN"
            yield Violation(("ingress", n), "SSH would be open to the whole world", remedy)


def _api_ingress(fleet: Fleet) -> Iterator[Violation]:
    for n, item in enumerate(fleet.ingress):
        if item.port == API_PORT and item.cidr == "0.0.0.0/0":
            remedy = "Name the addresses that may, or come in through the VPN"
            yield Violation(("ingress", n), "the Kubernetes API would be open to the whole world", remedy)


def _cluster_names(fleet: Fleet) -> Iterator[Violation]:
    """Names that other things have already, in one stack, zone or bucket with them, and names that get too long."""
    if fleet.fleet in BUCKET_FOLDERS:
        what = f"the fleet can't be called {fleet.fleet}: the fleet bucket keeps {fleet.fleet}/ for that"
        yield Violation(("fleet",), what, "Choose another name")
    for name, cluster in fleet.clusters.items():
        if name in fleet.regions:
            what = f"cluster {name} is called like a region, and each has a stack of its name"
            yield Violation(("clusters", name), what, "Give the cluster another name")
        if name == team_queues.ANY_CLUSTER:
            what = f"a cluster can't be called {name}: `landbridge run --cluster {name}` means all of them"
            yield Violation(("clusters", name), what, "Give the cluster another name")
        if pools.MACHINE_NAME.fullmatch(name):
            what = f"cluster {name} is called like a machine of a cluster"
            yield Violation(("clusters", name), what, "Choose a name that does not end in -etcd-N or -api-N")
        host = f"{name}-etcd-{cluster.etcd_members}.{cluster.region}.{fleet.domain}"
        if len(host) > CERTIFICATE_NAME:
            what = f"{host} has {len(host)} characters, and a certificate's name may have {CERTIFICATE_NAME}"
            yield Violation(("clusters", name), what, "Shorten the cluster's name or the domain")


def _copies(fleet: Fleet) -> Iterator[Violation]:
    """Copies are for the day when the home region is gone, and only the same cloud's services can make them."""
    for name, cluster in fleet.clusters.items():
        home, second = fleet.regions.get(cluster.region), fleet.regions.get(cluster.copies or "")
        if home is None or second is None:
            continue  # _references says so
        others = [region for region, it in fleet.regions.items() if it.cloud == home.cloud and region != cluster.region]
        another = f"Declare a second region of {home.cloud}, or leave copies out"
        remedy = f"Choose {' or '.join(others)}" if others else another
        if cluster.copies == cluster.region:
            what = f"cluster {name} keeps its copies in {cluster.copies}, its home region, and would lose both at once"
            yield Violation(("clusters", name, "copies"), what, remedy)
        elif second.cloud != home.cloud:
            what = (
                f"cluster {name} is in {home.cloud} and would keep its copies in {cluster.copies}, in {second.cloud}, "
                "where its machines' rights to write are worth nothing"
            )
            yield Violation(("clusters", name, "copies"), what, remedy)


def _kubernetes(fleet: Fleet) -> Iterator[Violation]:
    for name, cluster in fleet.clusters.items():
        if cluster.kubernetes.rpartition(".")[0] not in KUBERNETES:
            what = f"cluster {name} asks for Kubernetes {cluster.kubernetes}, which nothing here is tested with"
            yield Violation(("clusters", name, "kubernetes"), what, f"Tested: {', '.join(KUBERNETES)}")


def _state(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for found in state.wrong(fleet))


def _regions(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for found in regions.wrong(fleet))


def _pools_of_clusters(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for found in pools.wrong(fleet))


def _machines(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for part in (gpus, room) for found in part.wrong(fleet))


def _quotas(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for found in quotas.wrong(fleet))


def _shapes(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for found in shape_rules.wrong(fleet))


def _prices(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for part in (prices, caps) for found in part.wrong(fleet))


def _storage(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for part in (shares, team_storage, team_queues) for found in part.wrong(fleet))


def _maintenance(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for part in (windows, monitoring, cloud_alarms) for found in part.wrong(fleet))


def _people(fleet: Fleet) -> Iterator[Violation]:
    yield from (Violation(*found) for found in people.wrong(fleet))


RULES: tuple[Rule, ...] = (
    _supernet,
    _references,
    _regions,
    _unique,
    _pool_place,
    _pool_machines,
    _pools_of_clusters,
    _machines,
    _shapes,
    _quotas,
    _prices,
    _storage,
    _hosts_addresses,
    _gateways_public,
    _pins,
    _ingress,
    _api_ingress,
    _cluster_names,
    _copies,
    _kubernetes,
    _state,
    _people,
    _maintenance,
)
# Those that go by what `landbridge prices refresh` and `landbridge shapes refresh` fetch.
FETCHED = (_prices, _shapes, _quotas)

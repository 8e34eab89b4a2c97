"""A region's servers for laptops: where each stands, which addresses it gives out, what is reached by it. Pure."""

from ipaddress import IPv4Network
from typing import NamedTuple

from components.boot.people import Authority, Login, logins
from components.control_plane.machines import where_people_are
from components.pools.firewall import Rule, node_rules
from components.pools.spec import PoolSpec
from fleet import laptops
from fleet.address.plan import AddressPlan
from fleet.buckets import bucket_name, vault_name
from fleet.model import Cloud, Fleet

from .nodes import node_spec

PORT = laptops.PORT
# Of what a laptop sends and gets: as large as a site's tunnels take, so that what goes on to a site fits.
MTU = 1400
# Of every network of AWS, the address after the router's ("Amazon DNS server"); Azure's is one for all networks.
RESOLVER, PLATFORM = 2, "168.63.129.16"


class Server(NamedTuple):
    """`name` is vpn-1, `host` its full name in the region's private zone; `pool_cidr` has its laptops' addresses.

    `node` is the server as a node of its cluster.
    """

    name: str
    zone: str
    host: str
    pool_cidr: str
    node: PoolSpec


class LaptopsSpec(NamedTuple):
    """`reached` are the prefixes that laptops reach, by whose they are; `pools` those of all laptops of the fleet.

    `heard` is who speaks to nodes. `logins` may log in to the servers by SSH, and come from `logins_from`; `vouching`
    is whose certificates let them in, where not their keys do. With `own_name` all that laptops send goes in the
    server's name, names they ask the server itself for, and `vault` has its keys: on Azure.
    """

    fleet: str
    region: str
    account: str
    domain: str
    bucket: str
    heard: tuple[Rule, ...]
    resolver: str
    servers: tuple[Server, ...]
    reached: tuple[tuple[str, str], ...]
    pools: tuple[str, ...]
    logins: tuple[Login, ...] = ()
    logins_from: tuple[tuple[str, str], ...] = ()
    vouching: Authority | None = None
    shown: str = ""
    cloud: Cloud = "aws"
    vault: str = ""

    @property
    def own_name(self) -> bool:
        return self.cloud == "azure"

    @property
    def node(self) -> PoolSpec:
        """Any of the servers as a node: their cluster, its version and its pods are the same for all."""
        return self.servers[0].node

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Of what laptops reach, that which the cloud sees: addresses of pods and services are seen by nodes alone."""
        return tuple((name, cidr) for name, cidr in self.reached if name.startswith(("region-", "site-")))

    def prefix(self, name: str) -> str:
        """Where a server's bundle lies in the fleet bucket, and what secrets are called."""
        return f"{self.fleet}/{laptops.PLACE}/{name}"

    def machine(self, server: Server) -> str:
        """Unique in the fleet, for tags."""
        return laptops.machine(self.region, server.name)


def laptops_spec(fleet: Fleet, plan: AddressPlan, region: str) -> LaptopsSpec | None:
    """None for a region that has no servers."""
    cluster = laptops.cluster(fleet, region)
    if cluster is None:
        return None
    here = plan.region(region)
    # Those that the ledger has held longest, so that a new zone moves no server.
    zones, ssh, cloud = laptops.zones(list(here.zones)), fleet.access == "ssh", fleet.regions[region].cloud
    servers = tuple(
        Server(
            name,
            zones[number],
            f"{name}.{region}.{fleet.domain}",
            here.laptops[number],
            node_spec(fleet, plan, region, name, zones[number]),
        )
        for number, name in enumerate(laptops.servers(fleet, region))
    )
    return LaptopsSpec(
        fleet=fleet.fleet,
        region=region,
        account=fleet.aws.account_id if fleet.aws else "",
        domain=fleet.domain,
        bucket=bucket_name(fleet, region),
        heard=tuple(rule for rule in node_rules(fleet, plan, servers[0].node) if rule.direction == "in"),
        resolver=PLATFORM if cloud == "azure" else str(IPv4Network(here.network)[RESOLVER]),
        servers=servers,
        reached=reached(plan, cluster, services=fleet.regions[region].laptop_services),
        pools=tuple(pool for name in sorted(fleet.regions) for pool in plan.region(name).laptops),
        logins=logins(fleet, fleet.owner) if ssh else (),
        logins_from=where_people_are(fleet, plan) if ssh else (),
        cloud=cloud,
        vault=vault_name(fleet, region) if cloud == "azure" else "",
    )


def reached(plan: AddressPlan, cluster: str, *, services: bool) -> tuple[tuple[str, str], ...]:
    """One prefix for each region and site, one for the cluster's pods, and one for its services if asked for.

    No default route. Pods of other clusters are in overlays that the server is no end of. A service's address becomes a
    pod's on the server, as on every node, by kube-proxy.
    """
    places = {name: cidr for name, cidr in plan.aggregates().items() if not name.startswith("cluster/")}
    places[f"pods-{cluster}"] = plan.cluster(cluster).pods
    if services:
        places[f"services-{cluster}"] = plan.cluster(cluster).services
    return tuple(sorted((name.replace("/", "-"), cidr) for name, cidr in places.items()))

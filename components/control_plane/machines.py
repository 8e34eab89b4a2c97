"""A cluster's machines: their names, zones and addresses, all from the fleet and its ledger."""

from typing import Literal, NamedTuple

from components.boot.people import Authority, Login, logins
from fleet import issuers, laptops, monitoring, team_queues
from fleet.address.plan import AddressPlan
from fleet.buckets import bucket_name, in_azure, vault_name
from fleet.model import Cloud, Fleet

from .profiles import PROFILES, Profile

Role = Literal["etcd", "api"]
API_PORT = 6443
# Whether an API server can serve. Without events it can: their ring alone must not take the whole API away.
READY_PATH = "/readyz?exclude=etcd-override-0&exclude=etcd-override-readiness-0"


class Machine(NamedTuple):
    """`name` is main-etcd-1, `host` its full name in the region's private zone."""

    name: str
    role: Role
    zone: str
    address: str
    host: str


class Copies(NamedTuple):
    """The second region, and its fleet bucket, where copies of snapshots go."""

    region: str
    bucket: str


class ClusterSpec(NamedTuple):
    """Everything about a cluster that its machines' files are made from. CIDRs and addresses are the ledger's.

    `former_issuer` is that of the region it was rebuilt from; empty for a cluster that was born where it is. `logins`
    are those who may log in to its machines by SSH, `logins_from` the prefixes by name that they come from, and
    `vouching` whose certificates let them in, where not their keys do; `shown` is what a machine shows them then.
    `vault` is the Key Vault with keys, in Azure. `queues` is whether teams queue runs in it, `monitored` whether its
    own Prometheus asks its machines, and `metrics_api` whether it tells what nodes and pods use.
    """

    fleet: str
    name: str
    region: str
    zone_name: str
    kubernetes: str
    profile: Profile
    pods_cidr: str
    services_cidr: str
    etcd: tuple[Machine, ...]
    api: tuple[Machine, ...]
    balancer: dict[str, str]
    issuer: str
    bucket: str
    account: str = ""
    former_issuer: str = ""
    copies: Copies | None = None
    logins: tuple[Login, ...] = ()
    logins_from: tuple[tuple[str, str], ...] = ()
    vouching: Authority | None = None
    shown: str = ""
    cloud: Cloud = "aws"
    vault: str = ""
    queues: bool = False
    monitored: bool = False
    metrics_api: bool = False

    @property
    def endpoint(self) -> str:
        """The name under which everybody reaches the API, through the balancer."""
        return f"{self.name}.{self.zone_name}"

    @property
    def machines(self) -> tuple[Machine, ...]:
        return (*self.etcd, *self.api)

    def prefix(self, name: str) -> str:
        """Where something of the cluster lies in the fleet bucket and among the secrets."""
        return f"{self.fleet}/{self.name}/{name}"

    @property
    def first_service(self) -> str:
        """The address of the service `kubernetes`: the first of the range."""
        network, _, _ = self.services_cidr.partition("/")
        head, _, last = network.rpartition(".")
        return f"{head}.{int(last) + 1}"


def cluster_spec(fleet: Fleet, plan: AddressPlan, name: str) -> ClusterSpec:
    cluster = fleet.clusters[name]
    cloud = fleet.regions[cluster.region].cloud
    zone_name, given = f"{cluster.region}.{fleet.domain}", plan.cluster(name)
    found: list[Machine] = []
    balancer = {}
    for zone, zone_plan in plan.region(cluster.region).zones.items():
        for part, address in zone_plan.addresses.items():
            owner, _, what = part.partition("/")
            if owner == name and what == "balancer":
                balancer[zone] = address
            elif owner == name:
                machine = f"{name}-{what}"
                role: Role = "etcd" if what.startswith("etcd-") else "api"
                found.append(Machine(machine, role, zone, address, f"{machine}.{zone_name}"))
    return ClusterSpec(
        fleet=fleet.fleet,
        name=name,
        region=cluster.region,
        zone_name=zone_name,
        kubernetes=cluster.kubernetes,
        profile=PROFILES[cluster.size],
        pods_cidr=given.pods,
        services_cidr=given.services,
        etcd=tuple(sorted(m for m in found if m.role == "etcd")),
        api=tuple(sorted(m for m in found if m.role == "api")),
        balancer=_frontends(cloud, balancer),
        issuer=issuers.url(fleet, name),
        bucket=bucket_name(fleet, cluster.region),
        account=fleet.aws.account_id if fleet.aws else "",
        copies=Copies(cluster.copies, bucket_name(fleet, cluster.copies)) if cluster.copies else None,
        logins=logins(fleet, fleet.owner) if fleet.access == "ssh" else (),
        logins_from=where_people_are(fleet, plan) if fleet.access == "ssh" else (),
        cloud=cloud,
        vault=vault_name(fleet, cluster.region) if cloud == "azure" else "",
        queues=bool(team_queues.of_cluster(fleet, name)),
        monitored=fleet.monitoring is not None,
        metrics_api=monitoring.metrics_api(fleet),
    )


def _frontends(cloud: Cloud, found: dict[str, str]) -> dict[str, str]:
    """The balancer's addresses by zone. Azure's has one, which is there in every zone: that of the oldest."""
    oldest = dict(list(found.items())[:1]) if cloud == "azure" else found
    return dict(sorted(oldest.items()))


def where_people_are(fleet: Fleet, plan: AddressPlan) -> tuple[tuple[str, str], ...]:
    """Laptops on the VPN, and machine rooms. Other machines of regions never: nobody sits at one."""
    found = [
        (f"laptops-{name}-{n}", prefix)
        for name in sorted(fleet.regions)
        for n, prefix in enumerate(_laptops(fleet, plan, name), 1)
    ]
    return (*found, *((f"site-{name}", plan.site(name).block) for name in sorted(fleet.sites)))


def _laptops(fleet: Fleet, plan: AddressPlan, region: str) -> tuple[str, ...]:
    """Where a region's laptops come from: on Azure from their servers, which are all that stands in public subnets."""
    here = plan.region(region)
    if not in_azure(fleet, region):
        return here.laptops
    zones = laptops.zones(list(here.zones)) if laptops.served(fleet, region) else ()
    return tuple(dict.fromkeys(here.zones[zone].public for zone in zones))

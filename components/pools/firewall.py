"""Who may reach the machines of a pool, and whom they may reach. Security groups are compiled from this alone.

By prefix, for a rule between regions can name no security group. Answers to what may come in or go out need no rule.
"""

from typing import Literal, NamedTuple

from components.boot import people
from components.control_plane.firewall import EVERYWHERE, KUBELET_PORT, METRICS_PORTS, QUEUES_METRICS_PORT, asked
from components.control_plane.machines import API_PORT, ClusterSpec, cluster_spec, where_people_are
from fleet import laptops, monitoring
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from .spec import PoolSpec

# AWS replaces a group when its description changes: never reword it.
DESCRIPTION = "Machines of a pool"
# Stands for the pool's own machines.
OWN = "own"
OVERLAY_PORT, NFS_PORT, WEB_PORTS = 8472, 2049, (80, 443)  # flannel's VXLAN on Linux; NFS 4 alone
FRAGMENTATION_NEEDED = (3, 4)  # ICMP: type and code of "fragmentation needed", without which large packets vanish
Protocol = Literal["tcp", "udp", "icmp", "-1"]
ALL_PROTOCOLS: Protocol = "-1"


class Rule(NamedTuple):
    """Machines of the pool accept (in) or may send (out) on the ports; `peer` is a CIDR or OWN."""

    direction: Literal["in", "out"]
    protocol: Protocol
    first: int | None
    last: int | None
    peer: str
    what: str
    why: str

    @property
    def name(self) -> str:
        return f"{self.direction}-{self.what}"


def rules(fleet: Fleet, plan: AddressPlan, spec: PoolSpec) -> tuple[Rule, ...]:
    """Nothing comes in from outside of the fleet; what a new place needs is a rule more and changes none."""
    found = [
        Rule(
            "in", "icmp", *FRAGMENTATION_NEEDED, plan.supernet, "large-packets", "tunnels say how large a packet may be"
        ),
        *_web(),
        *_shares(fleet, plan),
    ]
    found += _people(fleet, plan) if spec.kind == "ssh" else node_rules(fleet, plan, spec)
    if spec.hardware.gpus:
        found += _among(spec)
    return tuple(sorted(found, key=lambda rule: rule.name))


def node_rules(fleet: Fleet, plan: AddressPlan, spec: PoolSpec) -> list[Rule]:
    """What makes a machine a node: the API, and the overlay of pods."""
    return [
        *_api(fleet, plan, spec),
        *_overlay(fleet, plan, spec),
        *_metrics(fleet, plan, spec),
        *_usage(fleet, plan, spec),
    ]


def _web() -> list[Rule]:
    why = "APIs of the cloud, registries of images and packages"
    return [Rule("out", "tcp", port, port, EVERYWHERE, f"web-{port}", why) for port in WEB_PORTS]


def _shares(fleet: Fleet, plan: AddressPlan) -> list[Rule]:
    places = {name: plan.region(name).network for name in fleet.regions}
    places |= {name: plan.site(name).lan for name, site in fleet.sites.items() if site.nfs}
    return [
        Rule("out", "tcp", NFS_PORT, NFS_PORT, prefix, f"nfs-{name}", f"homes and data of {name}")
        for name, prefix in places.items()
    ]


def _api(fleet: Fleet, plan: AddressPlan, spec: PoolSpec) -> list[Rule]:
    """Both ways with the cluster's API machines, which have planned addresses; out to its balancer, too."""
    cluster = cluster_spec(fleet, plan, spec.cluster)
    short = _api_machines(cluster)
    peers = {**short, **{f"balancer-{zone}": f"{address}/32" for zone, address in cluster.balancer.items()}}
    return [
        *(
            Rule("in", "tcp", KUBELET_PORT, KUBELET_PORT, prefix, f"kubelet-{name}", "logs and shells of pods")
            for name, prefix in short.items()
        ),
        *(
            Rule("out", "tcp", API_PORT, API_PORT, prefix, f"kubernetes-{name}", "the API")
            for name, prefix in peers.items()
        ),
        *(
            Rule("in", "tcp", one.port, one.port, prefix, f"{one.what}-{name}", one.why)
            for one in (asked(cluster) if spec.kind == "system" else ())
            for name, prefix in short.items()
        ),
    ]


def _api_machines(cluster: ClusterSpec) -> dict[str, str]:
    return {machine.name.removeprefix(f"{cluster.name}-"): f"{machine.address}/32" for machine in cluster.api}


def _metrics(fleet: Fleet, plan: AddressPlan, spec: PoolSpec) -> list[Rule]:
    """What has no pod's address, and Prometheus asks from its machine."""
    cluster = cluster_spec(fleet, plan, spec.cluster)
    if spec.kind != "system" or not cluster.monitored:
        return []
    found = [
        Rule("out", "tcp", port, port, prefix, f"metrics-{what}-{name}", f"metrics of {what}")
        for what, port in METRICS_PORTS.items()
        for name, prefix in _api_machines(cluster).items()
    ]
    if cluster.queues:
        port, why = QUEUES_METRICS_PORT, "what Kueue tells of teams' queues"
        for name, prefix in sorted(_places(fleet, plan, spec.cluster, ("system",)).items()):
            found += [
                Rule("in", "tcp", port, port, prefix, f"metrics-queues-{name}", why),
                Rule("out", "tcp", port, port, prefix, f"metrics-queues-{name}", why),
            ]
    return found


def _places(fleet: Fleet, plan: AddressPlan, cluster: str, kinds: tuple[str, ...]) -> dict[str, str]:
    """Prefixes of where the cluster has pools of these kinds."""
    places = {}
    for pool in fleet.pools.values():
        if pool.cluster == cluster and pool.kind in kinds:
            if pool.region:
                places[pool.region] = plan.region(pool.region).network
            elif pool.site:
                places[pool.site] = plan.site(pool.site).lan
    return places


def _with_nodes(fleet: Fleet, plan: AddressPlan, cluster: str) -> dict[str, str]:
    servers = {name: plan.region(name).network for name in laptops.regions(fleet, cluster)}
    return servers | _places(fleet, plan, cluster, ("gpu", "cpu", "system"))


def _usage(fleet: Fleet, plan: AddressPlan, spec: PoolSpec) -> list[Rule]:
    """metrics-server stands on system machines, on the network of these, and asks every node's kubelet."""
    if not monitoring.metrics_api(fleet):
        return []
    why, ports = "what nodes and pods use", (KUBELET_PORT, KUBELET_PORT)
    askers = _places(fleet, plan, spec.cluster, ("system",))
    asked_ones = _with_nodes(fleet, plan, spec.cluster) if spec.kind == "system" else {}
    return [
        *(Rule("in", "tcp", *ports, prefix, f"usage-{name}", why) for name, prefix in askers.items()),
        *(Rule("out", "tcp", *ports, prefix, f"usage-{name}", why) for name, prefix in asked_ones.items()),
    ]


def _overlay(fleet: Fleet, plan: AddressPlan, spec: PoolSpec) -> list[Rule]:
    """Pods talk in an overlay, of which the cloud sees the machines' addresses alone: where the cluster has nodes."""
    return [
        Rule(
            direction,
            "udp",
            OVERLAY_PORT,
            OVERLAY_PORT,
            prefix,
            f"pods-{name}",
            "pods of one node with those of another",
        )
        for name, prefix in _with_nodes(fleet, plan, spec.cluster).items()
        for direction in ("in", "out")
    ]


def _among(spec: PoolSpec) -> list[Rule]:
    """Training on many machines picks its ports itself, and EFA asks for just this ("Get started with EFA and MPI")."""
    why = f"GPUs of {spec.name} among themselves"
    return [Rule(direction, ALL_PROTOCOLS, None, None, OWN, "own-machines", why) for direction in ("in", "out")]


def _people(fleet: Fleet, plan: AddressPlan) -> list[Rule]:
    return [
        Rule("in", "tcp", people.PORT, people.PORT, prefix, f"ssh-{name}", "people, by SSH")
        for name, prefix in where_people_are(fleet, plan)
    ]

"""Who may reach whom in a control plane, and on which port. Security groups are compiled from this and nothing else."""

from typing import Literal, NamedTuple

from components.boot import people

from . import etcd, machine_metrics
from .machines import API_PORT, ClusterSpec, Role

Part = Literal["etcd", "api", "balancer"]
KUBELET_PORT, HTTPS_PORT = 10250, 443
# Of what stands on system machines, on the network of these: API machines are no nodes and reach no pod.
WEBHOOK_PORTS = {"kueue": 9443, "jobset": 9445}
# Programs on API machines, which tell of themselves, and one of them of etcd and of machines; and a controller beside
# its webhook.
METRICS_PORTS = {"controllers": 10257, "etcd": 10261, "scheduler": 10259}
QUEUES_METRICS_PORT = 9448
METRICS_API_PORT = 9447
EVERYWHERE = "0.0.0.0/0"
# AWS replaces a group when its description changes: never reword one.
DESCRIPTIONS: dict[Part, str] = {
    "etcd": "etcd machines of a cluster",
    "api": "API machines of a cluster",
    "balancer": "The load balancer before an API",
}


class Rule(NamedTuple):
    """`part` accepts (in) or may send (out) TCP on the ports; `peer` is another part or a CIDR."""

    part: Part
    direction: Literal["in", "out"]
    first: int
    last: int
    peer: str
    what: str
    why: str

    @property
    def name(self) -> str:
        return f"{self.part}-{self.direction}-{self.what}"


class Asked(NamedTuple):
    """What API machines ask on system machines."""

    what: str
    port: int
    why: str


def asked(spec: ClusterSpec) -> tuple[Asked, ...]:
    found = [
        Asked(f"webhooks-{name}", port, f"what {name} says of a run")
        for name, port in (WEBHOOK_PORTS.items() if spec.queues else ())
    ]
    if spec.metrics_api:
        found.append(Asked("metrics-api", METRICS_API_PORT, "what nodes and pods use"))
    return tuple(found)


def rules(spec: ClusterSpec, supernet: str) -> list[Rule]:
    """Inside of the fleet only. Metrics of etcd's members are on loopback and have no rule."""
    found: list[Rule] = []
    for ring in etcd.RINGS:
        why = f"clients of etcd {ring.name}"
        found += _way("api", "etcd", ring.client_port, f"{ring.name}-clients-api", why)
        found += _way("etcd", "etcd", ring.client_port, f"{ring.name}-clients", why)
        found += _way("etcd", "etcd", ring.peer_port, f"{ring.name}-peers", f"peers of etcd {ring.name}")
    found += [
        Rule("balancer", "in", API_PORT, API_PORT, supernet, "fleet", "the API, for everything of the fleet"),
        *_way("balancer", "api", API_PORT, "api", "the API, and checks by the balancer"),
        # Beside the balancer, so that its fault is not the API's.
        Rule("api", "in", API_PORT, API_PORT, supernet, "fleet", "the API, for everything of the fleet"),
        Rule("api", "out", KUBELET_PORT, KUBELET_PORT, supernet, "kubelets", "logs and shells of pods"),
        Rule("api", "out", 1, 65535, spec.pods_cidr, "pods", "webhooks and APIs that run in pods"),
    ]
    found += [Rule("api", "out", one.port, one.port, supernet, one.what, one.why) for one in asked(spec)]
    if spec.monitored:
        found += [
            Rule("api", "in", port, port, supernet, f"metrics-{name}", f"metrics of {name}, for whoever may have them")
            for name, port in METRICS_PORTS.items()
        ]
        found += _way("api", "etcd", machine_metrics.PORT, "machine-metrics", "disks and clock of etcd's machines")
    for role in ("etcd", "api"):
        found += [
            Rule(role, "in", people.PORT, people.PORT, prefix, f"ssh-{name}", "operators, by SSH")
            for name, prefix in spec.logins_from
        ]
        found.append(_out(role, "APIs of the cloud, some of which have no endpoint in the network"))
    return found


def _way(source: Part, target: Part, port: int, what: str, why: str) -> list[Rule]:
    """Both ends of one way."""
    return [Rule(target, "in", port, port, source, what, why), Rule(source, "out", port, port, target, what, why)]


def _out(role: Role, why: str) -> Rule:
    return Rule(role, "out", HTTPS_PORT, HTTPS_PORT, EVERYWHERE, "https", why)

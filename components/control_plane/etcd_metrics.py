"""Files of an API machine by which Prometheus learns of etcd and of machines: on_machine/etcd_metrics.py says how."""

from pathlib import Path

from . import etcd, machine_metrics
from .machines import ClusterSpec, Machine
from .units import UNITS, scripts, settings

SERVICE = "landbridge-etcd-metrics.service"
ROOT = Path(__file__).parents[2]


def path(ring: etcd.Ring, member: str) -> str:
    """Where it is found."""
    return f"{ring.name}/{member}"


def files(spec: ClusterSpec, machine: Machine) -> dict[str, str]:
    """Path → content, less certificates."""
    passed = {
        **{
            path(ring, member.name): f"https://{member.host}:{ring.client_port}/metrics"
            for ring in etcd.RINGS
            for member in spec.etcd
        },
        **{machine_metrics.path(one.name): machine_metrics.url(one) for one in spec.etcd},
    }
    what, after = "Passes on what etcd and its machines tell of themselves", "kube-apiserver.service"
    return {
        **scripts("etcd_metrics", *machine_metrics.SCRIPTS),
        **scripts("kube_http", folder=ROOT),
        **settings("etcd-metrics", {"passed": passed, "own": machine_metrics.path(machine.name)}),
        f"{UNITS}/{SERVICE}": machine_metrics.modest(what, "etcd_metrics", after),
    }

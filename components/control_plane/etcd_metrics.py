"""Files of an API machine by which Prometheus learns of etcd: on_machine/etcd_metrics.py says how."""

from pathlib import Path

from . import etcd
from .machines import ClusterSpec
from .units import UNITS, script, scripts, service, settings

SERVICE = "landbridge-etcd-metrics.service"
ROOT = Path(__file__).parents[2]


def path(ring: etcd.Ring, member: str) -> str:
    """Where it is found."""
    return f"{ring.name}/{member}"


def files(spec: ClusterSpec) -> dict[str, str]:
    """Path → content, less certificates."""
    members = {
        path(ring, member.name): f"https://{member.host}:{ring.client_port}"
        for ring in etcd.RINGS
        for member in spec.etcd
    }
    unit = service(
        "Passes on what etcd tells of itself",
        script("etcd_metrics"),
        kind="exec",
        after="kube-apiserver.service",
        # What is asked of it must not cost the API its machine.
        OOMScoreAdjust="500",
        Nice="5",
    )
    return {
        **scripts("etcd_metrics"),
        **scripts("kube_http", folder=ROOT),
        **settings("etcd-metrics", {"members": members}),
        f"{UNITS}/{SERVICE}": unit,
    }

"""What answers a run's pod whether the machine is fit for work: docs/decisions/0066-fit-hosts.md."""

from components.control_plane.units import UNITS, scripts

from . import findings
from .node_service import OWN_SCRIPTS, ROOT, node_service

SERVICE = "landbridge-node-look.service"
# What the findings of the kernel's log are made of has the look at disks.
SCRIPTS = ("node_look", "node_fitness", "node_looks", "own_node", "pod_names", *findings.OF_KERNEL)


def files() -> dict[str, str]:
    """Path → content. `machine` comes with the cloud's scripts."""
    return {
        f"{UNITS}/{SERVICE}": node_service("Answers whether this machine is fit for work", "node_look"),
        **scripts(*SCRIPTS, folder=OWN_SCRIPTS),
        **scripts("kube_http", folder=ROOT),
    }

"""What follows a node's kernel and mounts, and reports what it finds: docs/decisions/0063-node-findings.md."""

from components.control_plane.units import UNITS, scripts

from .node_service import OWN_SCRIPTS, ROOT, node_service

SERVICE = "landbridge-node-findings.service"
SCRIPTS = ("node_findings", "node_looks", "node_reports", "own_node", "pod_names")
OF_KERNEL = ("kernel_lines", "kernel_rows", "xids")
# A local machine has none: its kernel is the laptop's.
LOG = "/dev/kmsg"


def files() -> dict[str, str]:
    """Path → content. `machine` comes with the cloud's scripts."""
    text = node_service(
        "Reports what the kernel says of this node",
        "node_findings",
        f"ConditionPathExists={LOG}\n",
        # When memory is short it is the one to tell.
        OOMScoreAdjust="-999",
    )
    return {
        f"{UNITS}/{SERVICE}": text,
        **scripts(*SCRIPTS, *OF_KERNEL, folder=OWN_SCRIPTS),
        **scripts("kube_http", folder=ROOT),
    }

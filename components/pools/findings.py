"""What follows a node's kernel and mounts, and reports what it finds: docs/decisions/0063-node-findings.md."""

from pathlib import Path

from components.control_plane.units import UNITS, script, scripts, service

from . import kubelet

SERVICE = "landbridge-node-findings.service"
OWN_SCRIPTS, ROOT = Path(__file__).with_name("on_machine"), Path(__file__).parents[2]
SCRIPTS = ("node_findings", "node_looks", "node_reports", "kernel_lines", "kernel_rows", "pod_names", "xids")
# A local machine has none: its kernel is the laptop's.
LOG = "/dev/kmsg"


def files() -> dict[str, str]:
    """Path → content. `machine` comes with the cloud's scripts."""
    text = service(
        "Reports what the kernel says of this node",
        script("node_findings"),
        kind="exec",
        EnvironmentFile=kubelet.FACTS,
        # When memory is short it is the one to tell.
        OOMScoreAdjust="-999",
    )
    needed = f"Requires={kubelet.FACTS_UNIT}\nAfter={kubelet.FACTS_UNIT}\nConditionPathExists={LOG}\n"
    return {
        f"{UNITS}/{SERVICE}": text.replace("[Unit]\n", f"[Unit]\n{needed}", 1),
        **scripts(*SCRIPTS, folder=OWN_SCRIPTS),
        **scripts("kube_http", folder=ROOT),
    }

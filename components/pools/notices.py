"""What lays a cloud's announcements on the machine's Node: docs/decisions/0064-maintenance.md."""

from components.control_plane.units import UNITS, scripts
from fleet.model import Cloud

from .node_service import OWN_SCRIPTS, ROOT, node_service

SERVICE = "landbridge-node-notices.service"
SCRIPTS = ("node_notices", "own_node")


def files(cloud: Cloud) -> dict[str, str]:
    """Path → content. The cloud's scripts come with the machine's own."""
    return {
        f"{UNITS}/{SERVICE}": node_service("Reports what the cloud announces of this machine", "node_notices"),
        **scripts(*SCRIPTS, f"notices_{cloud}", folder=OWN_SCRIPTS),
        **scripts("kube_http", folder=ROOT),
    }

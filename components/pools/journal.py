"""What lays a node's journal where its logs are collected, in fleets that keep logs: docs/decisions/0071-logs.md."""

from components.control_plane.units import UNITS, script, scripts, service

from .node_service import OWN_SCRIPTS

SERVICE = "landbridge-node-journal.service"
FOLDER = "/var/log/landbridge/journal"


def files() -> dict[str, str]:
    """Path → content. `machine` comes with the cloud's scripts."""
    text = service("Lays the journal where logs are collected", script("node_journal", FOLDER), kind="exec")
    return {f"{UNITS}/{SERVICE}": text, **scripts("node_journal", folder=OWN_SCRIPTS)}

"""Maintenance of a host of a run's: a file that its program may read, and how short a run is. Pure.

The file has what stands on the pod, as JSON, within a minute of its being told; it is empty where nothing is planned.
docs/guide/maintenance.md has its form.
"""

from typing import Any

from fleet import maintenance

FOLDER = "/notice"
FILE = f"{FOLDER}/maintenance"
VARIABLE = "MAINTENANCE_FILE"


def source() -> dict[str, Any]:
    """A volume."""
    field = {"fieldPath": f"metadata.annotations['{maintenance.ANNOTATION}']"}
    item = {"path": FILE.rpartition("/")[2], "fieldRef": field}
    return {"projected": {"sources": [{"downwardAPI": {"items": [item]}}]}}


def tolerations(max_hours: float | None) -> list[dict[str, Any]]:
    """Of a run that ends before the work on a host begins: it may start there all the same."""
    return [
        {"key": maintenance.TAINT, "operator": "Equal", "value": value, "effect": "NoSchedule"}
        for value in (maintenance.tolerated(max_hours * 3600) if max_hours is not None else [])
    ]

"""Which GPUs are held, as a node's pods come and go."""

import json
from pathlib import Path
from typing import Any

from local.workers.gpus import RESOURCE, Held


def pod(name: str, gpus: int, phase: str = "Running") -> dict[str, Any]:
    limits = {"resources": {"limits": {RESOURCE: str(gpus)}}} if gpus else {}
    return {
        "metadata": {"uid": f"uid-{name}", "name": name, "namespace": "team"},
        "spec": {"containers": [{"name": "main", **limits}, {"name": "beside"}]},
        "status": {"phase": phase},
    }


def test_a_pod_holds_its_gpus_from_its_start_to_its_end(tmp_path: Path) -> None:
    held = Held("worker", 4, tmp_path)

    def told() -> dict[str, str]:
        found = json.loads((tmp_path / "gpus.json").read_text())
        assert found["node"] == "worker"
        return found["held"]

    held.listed([pod("a", 2), pod("plain", 0), pod("waits", 1, "Pending")])
    assert told() == {"0": "team/a", "1": "team/a"}
    held.heard("MODIFIED", pod("a", 2))
    held.heard("MODIFIED", pod("waits", 1))
    assert told() == {"0": "team/a", "1": "team/a", "2": "team/waits"}
    held.heard("MODIFIED", pod("a", 2, "Succeeded"))
    held.heard("ADDED", pod("b", 1))
    assert told() == {"0": "team/b", "2": "team/waits"}
    held.heard("DELETED", pod("waits", 1))
    assert told() == {"0": "team/b"}
    held.listed([pod("b", 1), pod("many", 9)])
    assert told() == {"0": "team/b", "1": "team/many", "2": "team/many", "3": "team/many"}, "no more than there are"
    held.listed([])
    assert told() == {}

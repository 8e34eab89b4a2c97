"""Whose pods a roll waits for."""

from typing import Any

import pytest

from components.addons.priorities import TABLE, WARM
from landbridge.pool.evicting import matters, movable


def pod(priority: int = 0, kind: str = "Job", **annotations: str) -> dict[str, Any]:
    owner = {"kind": kind, "controller": True}
    return {
        "metadata": {"ownerReferences": [owner], "annotations": annotations},
        "spec": {"priority": priority},
        "status": {"phase": "Running"},
    }


@pytest.mark.parametrize(("name", "waits"), [("training", True), ("site-dns", True), (WARM, False), ("spare", False)])
def test_a_machine_may_end_under_pods_that_only_hold_a_place(name: str, waits: bool) -> None:
    assert matters(pod(TABLE[name].value)) is waits
    assert not matters(pod(TABLE[name].value, "DaemonSet"))


def test_what_says_so_may_be_moved_at_any_time() -> None:
    assert movable(pod(**{"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}))
    assert not movable(pod(**{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}))
    assert not movable(pod())

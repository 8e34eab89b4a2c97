"""Whose pods a roll waits for, and that it evicts none but those that it has seen."""

from typing import Any

import pytest

from components.addons.priorities import TABLE, WARM
from landbridge.pool.eviction import evict, matters, movable

from .bed import Bed


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


@pytest.mark.usefixtures("no_work")
def test_a_pod_that_has_come_under_its_name_since_stays_where_it_is(bed: Bed) -> None:
    kube, name = bed.session.admin, "default/worker-0"
    bed.pod("worker-0", "old-machine")
    seen = uid(bed)
    bed.end_pod("worker-0")
    assert evict(kube, name, seen) == "", "it has gone"
    bed.pod("worker-0", "new-machine")
    assert evict(kube, name, seen) == "", "so it has on the machine that is drained"
    (left,) = bed.pods()
    assert (left["spec"]["nodeName"], "deletionTimestamp" in left["metadata"]) == ("new-machine", False)
    assert evict(kube, name, uid(bed)) == ""
    assert all("deletionTimestamp" in pod["metadata"] for pod in bed.pods()), "this one was meant"


def uid(bed: Bed) -> str:
    (pod,) = bed.pods()
    return str(pod["metadata"]["uid"])

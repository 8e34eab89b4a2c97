"""What a cluster that stays is rid of when stacks that stood on it are destroyed: nodes without machines, pods that end."""

from typing import Any

import pytest

from fleet import laptops
from landbridge.cluster import node_removal, pod_termination
from landbridge.cluster.kube import KubeError
from landbridge.remote_execution import CommandResult


class Kube:
    """Answers with one list of workloads after the other, and remembers what it was told."""

    def __init__(self, *lists: list[dict[str, Any]], refuses: bool = False) -> None:
        self.lists, self.refuses, self.told = list(lists), refuses, list[tuple[str, ...]]()

    def get(self, *_words: str) -> dict[str, Any]:
        return {"items": self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]}

    def done(self, *words: str) -> str:
        self.told.append(words)
        if self.refuses:
            raise KubeError("kubectl delete nodes failed: refused", CommandResult(1, "", "refused"))
        return ""


def workload(name: str, **more: str) -> dict[str, Any]:
    return {"metadata": {"namespace": "kube-system", "name": name, **more}}


@pytest.mark.parametrize(
    ("outputs", "pools"),
    [
        ({"cluster": "main", "groups": {"a": "cpu-a"}}, ("cpu",)),
        (
            {"cluster": "main", "region": "west", "servers": {"vpn-1": {}, "vpn-2": {}}},
            (laptops.machine("west", "vpn-1"), laptops.machine("west", "vpn-2")),
        ),
        ({"cluster": "main", "site": "lab", "hosts": ["host-1"]}, None),
        ({"network_id": "vpc-1"}, None),
        ({}, None),
    ],
    ids=["pool", "laptops", "site", "region", "never-up"],
)
def test_whose_nodes_they_were_the_stack_itself_tells(outputs: dict[str, Any], pools: tuple[str, ...] | None) -> None:
    found = node_removal.of("cpu", outputs)
    assert found == (node_removal.Machines("main", pools) if pools else None)


def test_nodes_go_by_their_pools_names_and_what_is_left_is_told() -> None:
    kube: Any = Kube([])
    machines = node_removal.Machines("main", ("west-vpn-1", "west-vpn-2"))
    assert node_removal.remove(kube, machines) == ""
    assert kube.told == [("delete", "nodes", "--selector=landbridge.dev/pool in (west-vpn-1,west-vpn-2)")]
    refusing: Any = Kube([], refuses=True)
    assert node_removal.remove(refusing, machines).startswith(
        "its nodes are left for the cluster main to remove: kubectl"
    )


def test_add_ons_are_gone_when_their_pods_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_termination, "PAUSE_SECONDS", 0.0)
    since = "2026-11-27T22:00:00Z"
    going, stays, other = (
        workload("flannel", deletionTimestamp=since),
        workload("dns"),
        workload("t", deletionTimestamp=since),
    )
    told: list[str] = []
    kube: Any = Kube([going, stays, other], [stays, other])
    ours = pod_termination.workloads(
        {"resources": [*map(resource, ("flannel", "dns")), {"type": "kubernetes:core/v1:Pod"}]}
    )
    assert pod_termination.await_end(kube, ours, told.append) == []
    assert told == ["pods of kube-system/flannel end"]
    for_ever: Any = Kube([going])
    assert pod_termination.await_end(for_ever, ours, told.append, 0.0) == ["kube-system/flannel"]
    assert pod_termination.workloads(None) == frozenset()


def resource(name: str) -> dict[str, str]:
    return {"type": "kubernetes:apps/v1:DaemonSet", "id": f"kube-system/{name}"}

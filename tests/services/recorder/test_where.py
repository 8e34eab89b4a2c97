"""Whose pods a node has, and of which pool it is, also for a while after it is gone."""

from components.pools import labels
from services.recorder.where import LATELY_SECONDS, POOL, Where


def test_the_pool_s_label_is_that_of_pools() -> None:
    assert POOL == labels.POOL


def test_a_node_that_is_gone_is_known_for_an_hour_and_then_takes_no_memory() -> None:
    now = 1000.0
    where = Where(lambda: now)
    for name in ("gpu-1", "gpu-2"):
        where.node({"metadata": {"name": name, "labels": {POOL: "west-gpu"}}, "spec": {}})
    pod = {"metadata": {"uid": "u", "namespace": "team-a"}, "spec": {"nodeName": "gpu-1"}}
    where.node_left({"metadata": {"name": "gpu-1"}})
    assert where.of_pod(pod)["pool"] == "west-gpu"
    now += LATELY_SECONDS + 1
    where.node_left({"metadata": {"name": "gpu-2"}})
    assert where.of_pod(pod) == {}
    assert [*where.nodes] == ["gpu-2"]

"""Nodes as the joining service knows them, and the taints of those with GPUs."""

import queue
from typing import Any

import pytest

from components.pools import labels
from tests.components.pools.joining_bed import TABLE, WEST
from tests.components.pools.joining_stand_ins import ONE, Api, thing

import gpu_taints  # isort: skip
import join_rules  # isort: skip
import nodes  # isort: skip


def step(gpus: int, short: float | None, *taints: str, ready: str = "True", wanted: int = 8) -> Any:
    return gpu_taints.step(nodes.read(thing(ONE, WEST, "west-gpu", gpus, ready, *taints)), wanted, short, 900)


def test_taints_of_gpu_machines() -> None:
    starting, failed = gpu_taints.STARTING, gpu_taints.FAILED["key"]
    keys = lambda done: [dict(taint)["key"] for taint in done.taints]  # noqa: E731
    assert step(7, 10, "nvidia.com/gpu", starting) is None
    done = step(8, None, "nvidia.com/gpu", starting)
    assert (done.change, keys(done)) == ("ready", ["nvidia.com/gpu"])
    done = step(7, 900, "nvidia.com/gpu", starting)
    assert (done.change, keys(done)) == ("failed", ["nvidia.com/gpu", failed])
    assert "advertises 7 of 8 GPUs" in done.why
    assert step(0, 5000, "nvidia.com/gpu", failed) is None
    done = step(8, None, "nvidia.com/gpu", failed)
    assert (done.change, keys(done)) == ("recovered", ["nvidia.com/gpu"])
    assert step(8, None, "nvidia.com/gpu") is None
    assert step(0, 5000, ready="Unknown") is None, "a node out of sight is not judged"
    assert step(8, None, starting, ready="False") is None
    assert step(0, 5000, wanted=0) is None, "no GPUs were bought"


def test_names_of_taints_and_labels_are_those_of_the_one_table() -> None:
    assert labels.GPU_STARTING.key == gpu_taints.STARTING
    assert {name: getattr(labels.GPU_FAILED, name) for name in ("key", "value", "effect")} == gpu_taints.FAILED
    assert (nodes.POOL_LABEL, nodes.PLACE_LABEL) == (labels.POOL, labels.PLACE)


def test_a_change_in_between_is_not_written_over(clock: Any) -> None:
    api = Api()
    work = gpu_taints.Taints(api, join_rules.pools_of(TABLE), 900)
    node = nodes.read(thing(ONE, WEST, "west-gpu", 0, "True", "nvidia.com/gpu", gpu_taints.STARTING, "team"))
    work.look(node)
    clock(901)
    api.answers["PATCH", f"/api/v1/nodes/{ONE}"] = 409
    work.look(node)
    assert api.bodies[0]["metadata"] == {"resourceVersion": "7"}
    assert [taint["key"] for taint in api.bodies[0]["spec"]["taints"]] == [
        "nvidia.com/gpu",
        "team",
        "landbridge.dev/gpu-failed",
    ]
    assert api.done("POST") == [], "no event of what was not done"
    assert work.failed == {ONE}, "a change of nothing but its version does not come here"
    work.look(nodes.read(thing(ONE, WEST, "west-gpu", 0, "Unknown")))
    clock(901)
    api.answers.clear()
    work.look(node)
    assert len(api.done("PATCH")) == 1, "the time begins anew once it is back in sight"


def test_a_node_that_changes_while_it_waits_is_looked_at_once_and_as_it_is_by_then() -> None:
    work = gpu_taints.Taints(Api(), join_rules.pools_of(TABLE), 900)
    for gpus in (0, 4, 8):
        work.changed(nodes.read(thing(ONE, WEST, "west-gpu", gpus)))
    work.changed(nodes.read(thing("other", WEST, "west-gpu", 1)))
    assert [(node.name, node.gpus) for node in (work.next(1), work.next(1))] == [(ONE, 8), ("other", 1)]
    work.changed(nodes.read(thing(ONE, WEST, "west-gpu", 7)))
    assert work.next(1).gpus == 7, "after a look it waits again"
    with pytest.raises(queue.Empty):
        work.next(0)


def test_who_has_an_address_follows_the_nodes() -> None:
    heard: list[str] = []
    known = nodes.Nodes(lambda node: heard.append(node.name))
    known.listed([nodes.read(thing("a"))])
    assert known.owner("10.0.0.1") == "a"
    known.changed("MODIFIED", thing("a"))
    assert heard == ["a"], "nothing that matters has changed"
    known.changed("DELETED", thing("a"))
    known.changed("ADDED", thing("b"))
    assert known.owner("10.0.0.1") == "b"
    assert [node.name for node in known.all()] == ["b"]

"""`landbridge pool` on scaling groups of the local AWS and nodes of a real API server."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from landbridge.cluster import freeze
from landbridge.errors import ConsentError, LandbridgeError, UsageError
from landbridge.pool import shrink

from . import bed as beds
from .bed import Bed, Run


def listed(run: Run) -> dict[str, Any]:
    code, told = run("list")
    assert code == 0
    return {one["pool"]: one for one in told["pools"]}


def test_a_size_that_no_cloud_can_give_is_refused_with_its_place_in_the_fleet_file(run: Run) -> None:
    lines = (beds.ROOT / "fleet.yaml").read_text().splitlines()
    west, system = (next(n for n, line in enumerate(lines, 1) if f"  {p}: {{" in line) for p in ("west-gpu", "system"))
    hosts = next(n for n, line in enumerate(lines, 1) if "hosts: [host-1" in line)
    with pytest.raises(UsageError, match=rf"^fleet.yaml:{west}: 41 machines .* its max is 40\. Raise max"):
        run("size", "west-gpu", "41")
    with pytest.raises(UsageError, match=rf"^fleet.yaml:{system}: 1 machines .* its min is 2\. Lower min"):
        run("size", "system", "1")
    with pytest.raises(UsageError, match=rf"^fleet.yaml:{hosts}: .*8 hosts.*`landbridge site enrol lab HOST`"):
        run("size", "site-gpu", "4")
    with pytest.raises(UsageError, match=r"fleet.yaml has no pool wst-gpu. Its pools: site-gpu, west-gpu"):
        run("size", "wst-gpu", "4")


def test_a_pool_grows_over_its_zones_and_the_same_again_changes_nothing(bed: Bed, run: Run) -> None:
    code, told = run("size", "west-gpu", "2")
    assert (code, told["ready"], told["machines"], told["before"]) == (0, 2, 2, 0)
    assert bed.desired("west-gpu") == [1, 1, 0]
    before = bed.machines("west-gpu")
    assert run("size", "west-gpu", "2")[0] == 0
    assert (bed.machines("west-gpu"), bed.desired("west-gpu")) == (before, [1, 1, 0])


def test_machines_that_do_not_come_are_named_and_asked_of_other_zones_next_time(bed: Bed, run: Run) -> None:
    """After the one above: zone c is next."""
    bed.fault({"region": "us-west-2", "zone": "us-west-2c", "instance_type": "p5.48xlarge", "capacity": 0})
    with pytest.raises(LandbridgeError) as caught:
        run("size", "west-gpu", "3", "--timeout", "3")
    text = str(caught.value)
    assert "west-gpu has 2 of 3 machines at work" in text
    assert "example-west-gpu-c launches none: " in text
    assert "Run `landbridge pool size west-gpu 3 --local` again" in text
    assert "InsufficientInstanceCapacity" in caught.value.document["failed_launches"]["example-west-gpu-c"]
    state = listed(run)["west-gpu"]
    assert (state["desired"], state["running"]) == (3, 2)
    assert any("example-west-gpu-c launches none: " in words for words in state["trouble"])
    code, told = run("size", "west-gpu", "3", "--timeout", "90")
    assert (code, told["ready"]) == (0, 3)
    assert bed.desired("west-gpu") == [2, 1, 0]


def test_where_no_zone_launches_any_each_is_named_and_another_pool_advised(bed: Bed, run: Run) -> None:
    none = {"region": "us-east-1", "instance_type": "p5.48xlarge", "capacity": 0}
    bed.fault(*({**none, "zone": f"us-east-1{zone}"} for zone in "ab"))
    with pytest.raises(LandbridgeError) as caught:
        run("size", "east-gpu", "2", "--timeout", "3")
    text = str(caught.value)
    assert "east-gpu has 0 of 2 machines at work" in text
    assert "None of its groups launches any now. `landbridge pool size east-gpu 2 --local` asks again later" in text
    assert "asked of the pool's others" not in text
    assert set(caught.value.document["failed_launches"]) == {"example-east-gpu-a", "example-east-gpu-b"}
    bed.fault()
    assert bed.machines("east-gpu") == []
    run("size", "east-gpu", "2", "--no-wait")
    assert len(bed.machines("east-gpu")) == 2, "asked for anew, though the size is the same"
    assert run("size", "east-gpu", "0", "--yes")[0] == 0


def test_a_machine_that_never_joins_is_named_with_the_way_to_its_log(bed: Bed, run: Run) -> None:
    code, told = run("size", "cpu", "1")
    assert (code, told["ready"]) == (0, 1)
    (first,) = bed.machines("cpu")
    bed.dead.add(first)
    bed.api.api.call("DELETE", f"/api/v1/nodes/{first}")
    with pytest.raises(LandbridgeError, match=f"{first} has not joined") as caught:
        run("size", "cpu", "1", "--timeout", "2")
    assert "`landbridge local logs MACHINE`" in str(caught.value)
    assert caught.value.document["missing"] == {first: "has not joined"}
    assert f"not joined: {first}" in listed(run)["cpu"]["trouble"]
    assert run("size", "cpu", "0", "--yes")[1]["removed"] == [first], "nothing runs on it"


def test_a_list_tells_machines_nodes_and_gpus_in_use(bed: Bed, run: Run, printed: Callable[..., list[str]]) -> None:
    newest, *_, oldest = bed.machines("west-gpu")
    bed.pod("train", oldest, gpus=5)
    taint = {"key": "landbridge.dev/gpu-failed", "value": "true", "effect": "NoSchedule"}
    bed.api.patch(f"/api/v1/nodes/{newest}", {"spec": {"taints": [taint]}})
    found = listed(run)
    west = found["west-gpu"]
    assert (west["desired"], west["running"], west["ready"], west["max"]) == (3, 3, 3, 40)
    assert (west["gpus"], west["gpus_used"]) == (24, 5)
    assert f"gpu-failed: {newest}" in west["trouble"]
    assert found["site-gpu"]["trouble"] == ["8 of 8 hosts not enrolled"]
    assert (found["system"]["min"], found["system"]["desired"]) == (2, 2)
    assert list(found) == ["site-gpu", "west-gpu", "east-gpu", "eu-gpu", "cpu", "system"]
    lines = printed("list")
    assert max(map(len, lines[:7])) <= 80
    rows = [line.split() for line in lines]
    assert rows[0] == ["pool", "kind", "place", "machines", "sizes", "Ready", "GPUs", "used"]
    assert ["west-gpu", "gpu", "us-west-2", "3", "0-40", "3", "5", "of", "24"] in rows
    assert ["site-gpu", "gpu", "lab", "0", "of", "8", "hosts", "0"] in rows
    assert f"west-gpu: gpu-failed: {newest}" in lines
    bed.end_pod("train")


def test_a_pool_shrinks_by_idle_machines_alone_and_says_who_is_at_work(bed: Bed, run: Run) -> None:
    newest, middle, oldest = bed.machines("west-gpu")
    bed.pod("train", newest, gpus=8)
    bed.pod("watch", middle, daemon=True)
    with pytest.raises(ConsentError):
        run("size", "west-gpu", "2")
    assert bed.machines("west-gpu") == [newest, middle, oldest]
    assert not any(node["spec"].get("unschedulable") for node in bed.nodes().values())
    code, told = run("size", "west-gpu", "2", "--yes")
    assert (code, told["removed"], told["busy"]) == (0, [middle], {newest: ["default/train"]})
    assert bed.machines("west-gpu") == [newest, oldest], "the pause at its end is over"
    assert middle not in bed.nodes()
    code, told = run("size", "west-gpu", "0", "--yes")
    assert (code, told["done"], told["removed"], told["machines"]) == (1, False, [oldest], 1)
    assert told["busy"] == {newest: ["default/train"]}
    assert (bed.machines("west-gpu"), sum(bed.desired("west-gpu"))) == ([newest], 1)
    assert not bed.nodes()[newest]["spec"].get("unschedulable")


def test_a_machine_that_got_work_after_the_first_look_stays(
    bed: Bed, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("size", "cpu", "1")
    (name,) = bed.machines("cpu")
    # Of this module alone: subprocess sleeps, too.
    settle = SimpleNamespace(sleep=lambda _: bed.pod("late", name), monotonic=time.monotonic)
    monkeypatch.setattr(shrink, "time", settle)
    code, told = run("size", "cpu", "0", "--yes")
    assert (code, told["removed"], told["busy"]) == (1, [], {name: ["default/late"]})
    assert bed.machines("cpu") == [name]
    assert not bed.nodes()[name]["spec"].get("unschedulable"), "it works on as before"
    bed.end_pod("late")


def test_a_frozen_cluster_keeps_its_machines(bed: Bed, run: Run) -> None:
    (name,) = bed.machines("cpu")
    bed.session.admin.apply([freeze.manifest("a drill", datetime.now(UTC))])
    try:
        with pytest.raises(LandbridgeError, match=r"frozen since .* \(a drill\)"):
            run("size", "cpu", "0", "--yes")
        assert bed.machines("cpu") == [name]
    finally:
        bed.api.api.call("DELETE", f"/api/v1/namespaces/{freeze.NAMESPACE}/configmaps/{freeze.NAME}")


def test_another_ones_pause_is_not_ended(bed: Bed, run: Run) -> None:
    """The last on this pool."""
    (name,) = bed.machines("cpu")
    scaling = bed.session.of("autoscaling")
    given = {"LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING", "HeartbeatTimeout": 600}
    scaling.put_lifecycle_hook(AutoScalingGroupName="example-cpu-all", LifecycleHookName="theirs", **given)
    code, told = run("size", "cpu", "0", "--yes")
    assert (code, told["removed"]) == (0, [name])
    (machine,) = bed.groups("cpu")[0]["Instances"]
    assert machine["LifecycleState"] == "Terminating:Wait"
    assert name in bed.nodes(), "it goes when the machine has ended"

"""What a node shows of its burn-in, as patches."""

import json
from typing import Any

import pytest

from components.pools import labels
from images.burn_in.findings import Kind, Result
from landbridge.errors import LandbridgeError
from landbridge.image.burn_in import member, node_status
from tests.components.pools import joining_bed  # noqa: F401 - the scripts as modules
from tests.images.burn_in.bed import Played

import gpu_taints  # isort: skip
import nodes  # isort: skip


PATH = {"failed": ("remapped_rows/remapped_row_unc", "513"), "error": ("ecc_mode/current_ecc", None)}
JOINER = {"key": labels.GPU_FAILED.key, "value": "true", "effect": "NoSchedule"}
OTHERS = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}, JOINER]
FULL, QUICK = (
    dict(zip(("key", "value", "effect"), node_status.FAILED[kind][:3], strict=True)) for kind in ("full", "quick")
)


def found(outcome: str, kind: Kind = "full") -> Result:
    played = Played()
    if outcome in PATH:
        played.gpu(3, *PATH[outcome])
    result = played.found(kind)
    assert result.outcome == outcome
    return result


def node(*taints: dict[str, str], **status: Any) -> dict[str, Any]:
    told = {"name": "gpu-1", "uid": "u", "resourceVersion": "7", "labels": {labels.POOL: "west-gpu"}}
    return {"metadata": told, "spec": {"taints": [*OTHERS, *taints]}, "status": status}


def taints(patches: node_status.Patches) -> list[dict[str, str]]:
    told = patches.node["spec"]["taints"]
    assert told[:2] == OTHERS, "others' stay as they are, that of missing GPUs, too"
    return list(told[2:])


@pytest.mark.parametrize(
    ("before", "outcome", "kind", "after"),
    [
        ([], "failed", "full", [FULL]),
        ([], "failed", "quick", [QUICK]),
        ([], "passed", "full", []),
        ([], "error", "full", []),
        ([FULL], "passed", "full", []),
        ([FULL], "passed", "quick", [FULL]),
        ([FULL], "error", "full", [FULL]),
        ([FULL], "failed", "quick", [FULL]),
        ([QUICK], "passed", "quick", []),
        ([QUICK], "passed", "full", []),
        ([QUICK], "failed", "quick", [QUICK]),
        ([QUICK], "failed", "full", [FULL]),
        ([QUICK], "error", "quick", [QUICK]),
    ],
)
def test_who_taints_and_who_takes_it_away(before: list[Any], outcome: str, kind: Kind, after: list[Any]) -> None:
    patches = node_status.result(node(*before), found(outcome, kind))
    assert taints(patches) == after
    assert patches.node["metadata"]["resourceVersion"] == "7"
    quiet = bool(after) and outcome != "failed"
    assert (patches.status is None) == quiet, "what was found is still so"
    word = patches.node["metadata"]["labels"][node_status.LABEL]
    assert (word.partition("-quick")[0] == "failed") == bool(after)


def test_the_condition_names_the_part() -> None:
    result = found("failed")
    told = node_status.condition(node(), result)
    assert (told["type"], told["status"], told["reason"]) == ("GPUBurnInFailed", "True", "RowsUncorrectable")
    assert told["message"].startswith("GPU 3 (serial 1654023001021, GPU-00000003")
    assert "uncorrectable remapped rows: 513, allowed at most 512" in told["message"]
    assert [node_status.condition(node(), found(one))["status"] for one in ("passed", "error")] == ["False", "Unknown"]
    assert result.digest[:12] not in told["message"]
    passed = found("passed")
    assert passed.digest[:12] in node_status.condition(node(), passed)["message"]


def test_a_condition_that_stays_keeps_its_time() -> None:
    before = {"type": node_status.CONDITION, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    assert (
        node_status.condition(node(conditions=[before]), found("failed"))["lastTransitionTime"]
        == "2026-01-01T00:00:00Z"
    )
    assert node_status.condition(node(conditions=[before]), found("passed"))["lastTransitionTime"] > "2026-01-02"


def test_a_message_is_not_endless() -> None:
    played = Played()
    for number in range(8):
        for path in ("remapped_rows/remapped_row_pending", "remapped_rows/remapped_row_failure"):
            played.gpu(number, path, "Yes")
    told = node_status.message(played.found())
    assert len(told) < 1100
    assert told.endswith(" more")


def test_the_annotation_has_date_and_digest() -> None:
    result = found("passed")
    told = json.loads(node_status.result(node(), result).node["metadata"]["annotations"][node_status.ANNOTATION])
    assert told == {
        "at": result.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "digest": result.digest,
        "kind": "full",
        "outcome": "passed",
    }


def test_a_node_is_kept_free_and_let_go() -> None:
    held = node_status.running(node(FULL))["spec"]["taints"]
    assert [one["key"] for one in held[2:]] == [FULL["key"], node_status.RUNNING.key]
    then = {**node(), "spec": {"taints": held}}
    assert node_status.not_running(then)["spec"]["taints"] == [*OTHERS, FULL]  # type: ignore[index]
    assert node_status.not_running(node()) is None
    only = {**node(), "spec": {"taints": held[-1:]}}
    assert node_status.not_running(only)["spec"]["taints"] is None  # type: ignore[index]
    assert taints(node_status.result(then, found("passed"))) == []


def test_the_joining_service_leaves_it_alone() -> None:
    """All its GPUs are advertised: what says otherwise goes, and what burn-in has found stays."""
    told = {**node(FULL), "status": {"allocatable": {labels.GPU_RESOURCE: "8"}}}
    told["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    done = gpu_taints.step(nodes.read(told), 8, None, 900)
    assert done is not None
    assert done.change == "recovered"
    assert [dict(one) for one in done.taints] == [OTHERS[0], FULL]


def test_the_autoscaler_takes_no_such_node_for_its_pattern() -> None:
    """Its prefix for taints of a node's state: utils/taints/taints.go of cluster-autoscaler."""
    prefix = labels.GPU_STARTING.key.partition("startup-taint.")[2].partition("/")[0]
    for taint in (*node_status.FAILED.values(), node_status.RUNNING):
        assert taint.key.startswith(f"status-taint.{prefix}/")
        assert taint.effect == "NoSchedule", "running work is not ended"


TWO = [
    {"metadata": {"name": "gpu-1"}},
    {"metadata": {"name": "gpu-2"}, "status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.2"}]}},
]


@pytest.mark.parametrize(
    ("names", "wanted"),
    [({"gpu-1"}, "gpu-1"), ({"192.0.2.2"}, "gpu-2"), ({"gpu-3"}, None), (set(), None)],
)
def test_which_node_a_machine_is(names: set[str], wanted: str | None) -> None:
    one = member.chosen(TWO, names)
    assert (one["metadata"]["name"] if one else None) == wanted


def test_a_machine_that_may_be_two_nodes_is_none_that_can_be_asked_for() -> None:
    with pytest.raises(LandbridgeError, match=r"More than one node is called 192\.0\.2\.2 or gpu-1: gpu-1, gpu-2\."):
        member.chosen(TWO, {"gpu-1", "192.0.2.2"})


def test_what_a_machine_is_called() -> None:
    assert member.names("localhost", "gpu-1\n") == {"gpu-1"}
    assert member.names("192.0.2.9", "") == {"192.0.2.9"}

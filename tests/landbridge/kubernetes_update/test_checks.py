"""What stands against an update, told of nodes, budgets, images and what the API was asked for."""

from typing import Any

import pytest

from landbridge.kubernetes_update.checks import Check, Deprecated, Seen, checks
from landbridge.kubernetes_update.observed import asked_for

METRICS = """\
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="example.com",removed_release="1.37",resource="things",subresource="",version="v1beta1"} 1
apiserver_requested_deprecated_apis{group="example.com",removed_release="1.36",resource="olds",subresource="",version="v1alpha1"} 0
process_start_time_seconds 1.7e+09
"""


def node(name: str, kubelet: str = "v1.35.8", ready: str = "True", **more: Any) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready}, *more.pop("conditions", [])]
    status = {"nodeInfo": {"kubeletVersion": kubelet}, "conditions": conditions}
    return {"metadata": {"name": name, "labels": {}}, "spec": more, "status": status}


def budget(allowed: int, pods: int = 2) -> dict[str, Any]:
    status = {"expectedPods": pods, "disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 2}
    return {"metadata": {"namespace": "team-vision", "name": "serving"}, "status": status}


def found(**other: Any) -> dict[str, Check]:
    well = Seen("1.36.2", {"main-api-1": ()}, [node("i-1")], [budget(1), budget(0, pods=0)], [], [], "", [])
    return {one.what: one for one in checks(well._replace(**other)) if not one.well}


def test_nothing_stands_against_what_is_well() -> None:
    assert found() == {}


OLD = Deprecated("example.com", "v1beta1", "things", "1.36")


@pytest.mark.parametrize(
    ("other", "what", "stops", "words"),
    [
        ({"frozen": "since noon: a restore"}, "frozen", True, "since noon: a restore"),
        ({"machines": {"main-api-1": ["it is away"]}}, "control plane", True, "main-api-1: it is away"),
        ({"lacking": ["/x/images/gpu/1.36.2/stable"]}, "images", True, "/x/images/gpu/1.36.2/stable"),
        ({"deprecated": [OLD]}, "removed APIs", True, "things of example.com/v1beta1, which 1.36 has no more"),
        ({"nodes": [node("i-1", "v1.37.0")]}, "version skew", True, "i-1 has kubelet 1.37.0, newer than 1.36.2"),
        ({"nodes": [node("i-1", "v1.32.9")]}, "version skew", True, "more than 3 minors before 1.36.2"),
        ({"nodes": [node("i-1", ready="Unknown"), node("i-2")]}, "silent nodes", False, "i-1"),
        ({"nodes": [node(f"i-{n}", ready="False") for n in range(3)]}, "silent nodes", True, "i-2"),
        (
            {"nodes": [node("i-1", conditions=[{"type": "DiskPressure", "status": "True"}])]},
            "unwell nodes",
            False,
            "i-1: DiskPressure",
        ),
        ({"nodes": [node("i-1", taints=[{"key": "landbridge.dev/gpu-failed"}])]}, "unwell nodes", False, "gpu-failed"),
        (
            {"budgets": [budget(0)]},
            "disruption budgets",
            False,
            "team-vision/serving lets none of its 2 pods go (1 healthy, 2 wanted)",
        ),
        ({"planned": ["lab-1130: new switch"]}, "planned maintenance", False, "lab-1130: new switch"),
    ],
)
def test_what_is_wrong_is_said_and_stops_what_it_must(other: Any, what: str, stops: bool, words: str) -> None:
    (one,) = found(**other).values()
    assert (one.what, one.stops) == (what, stops)
    assert words in "; ".join(one.found)
    assert one.remedy


def test_an_api_that_a_later_version_has_no_more_is_no_matter_yet() -> None:
    assert found(deprecated=[OLD._replace(gone_in="1.37")]) == {}


def test_what_was_asked_for_stands_in_a_server_s_metrics() -> None:
    assert list(asked_for(METRICS)) == [Deprecated("example.com", "v1beta1", "things", "1.37")]

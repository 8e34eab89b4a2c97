"""Regions that refuse, with the real Cluster Autoscaler: the next is asked, and nothing is bought twice."""

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from components.pools import labels
from landbridge.autoscaler.explain import Explanation, explained
from landbridge.autoscaler.history import lines
from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import Autoscaled, autoscaled, timeline
from tests.services.autoscaler.azure.side import AzureSide

# Minutes on a busy machine: the local AWS launches by and by.
pytestmark = pytest.mark.timeout(1500)
LONG = 600
TYPE = "p5.48xlarge"
WEST, EAST, EU = REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
SOUTH, FIRST, SECOND = "southcentralus", "example-south-gpu-1", "example-south-gpu-2"


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    """Its pools are larger than what regions have; a pool that refused is asked again after seconds, not minutes."""
    back = {"initial_node_group_backoff_duration": "20s", "max_node_group_backoff_duration": "40s"}
    most = {"west_gpu": 200, "east_gpu": 200}
    with autoscaled(tmp_path_factory.mktemp("overflow"), most=most, azure=True, **back) as made:
        yield made


def have(one: Autoscaled, capacity: dict[str, int]) -> None:
    """So many GPU machines are to be had in these regions of AWS, and any number in others."""
    faults = [{"region": region, "instance_type": TYPE, "capacity": count} for region, count in capacity.items()]
    one.cloud.own("faults", faults)


def azure(one: Autoscaled) -> AzureSide:
    assert one.cloud.azure
    return one.cloud.azure


def refusals(one: Autoscaled, group: str) -> str:
    """All that its cloud has said so far."""
    return " ".join(str(told) for told in one.said("refused") if told["group"] == group)


def waiting(one: Autoscaled) -> str:
    """A pod that has no node."""
    return next(str(pod["metadata"]["name"]) for pod in one.pods("large") if not pod["spec"].get("nodeName"))


def why(one: Autoscaled, pod: str) -> Explanation:
    return explained(one.noting.command_line, one.noting.kept, pod, None, datetime.now(UTC))


def codes(found: Explanation) -> set[str]:
    return {str(cause["code"]) for wait in found.waits for cause in wait.causes}


def events(one: Autoscaled, pod: str) -> set[str]:
    """Reasons of the autoscaler's own on the pod."""
    query = {"fieldSelector": f"involvedObject.name={pod}"}
    found = one.api.call("GET", "/api/v1/namespaces/default/events", query)["items"]
    return {str(event["reason"]) for event in found if event["source"].get("component") == "cluster-autoscaler"}


def test_where_all_refuse_nothing_is_bought_and_where_some_do_the_rest_is_bought_elsewhere(one: Autoscaled) -> None:
    began = time.time()
    have(one, dict.fromkeys(REGIONS, 0))
    # Azure refuses some at once, and some when it has begun.
    azure(one).refuse({"match": {"name": FIRST}, "status": 409, "code": "SkuNotAvailable"})
    azure(one).have({"zone": "2", "most": 0, "code": "AllocationFailed"})
    one.job("large", 200)
    groups = {told["name"] for told in one.told["groups"] if told["gpus"]}
    eventually(lambda: groups <= {told["group"] for told in one.said("refused")}, LONG)
    assert sum(one.launched().values()) == 0
    assert "SkuNotAvailable" in refusals(one, FIRST)
    assert "AllocationFailed" in refusals(one, SECOND)
    assert one.running("large") == 8, "at the site"
    pod = waiting(one)
    azure(one).quota(0)
    azure(one).refuse()
    azure(one).have()
    have(one, {WEST: 40, EAST: 60, EU: 60})
    eventually(lambda: one.running("large") == 168, LONG)
    eventually(lambda: "QuotaExceeded" in refusals(one, FIRST) + refusals(one, SECOND), LONG)
    assert one.launched() == {WEST: 40, EAST: 60, EU: 60, SOUTH: 0}
    azure(one).quota(None)
    eventually(lambda: one.running("large") == 200, LONG)
    sys.stdout.write("\n".join([*timeline(one, began), f"{time.time() - began:6.1f} s  all pods run", ""]))
    assert one.launched() == {WEST: 40, EAST: 60, EU: 60, SOUTH: 32}
    # Looked at afterwards: time between refusals and new capacity would change which pool is asked first.
    eventually(lambda: {"refused-capacity", "backoff", "too-large"} <= codes(why(one, pod)), LONG)
    eventually(lambda: "TriggeredScaleUp" in events(one, pod), LONG)


def test_why_a_pod_waited_is_known_after_it_has_gone_and_after_the_programs_began_anew(one: Autoscaled) -> None:
    pod = next(
        str(made["metadata"]["name"]) for made in one.pods("large") if why(one, str(made["metadata"]["name"])).waits
    )
    there = why(one, pod)
    assert (there.state, there.owner, there.requests["nvidia.com/gpu"]) == ("Running", "Job/large", "8")
    one.end("large")
    eventually(lambda: not one.pods("large"), LONG)
    one.noting.stop()
    one.service.stop()
    one.service.start()
    one.noting.start(one.flags)
    decided = {str(told["at"]) for told in one.said("refused") + one.said("grow")}
    eventually(lambda: decided <= {str(told["at"]) for told in one.noting.kept.decisions}, LONG)
    gone = why(one, pod)
    assert (gone.state, gone.waits[0]) == ("gone", there.waits[0])
    backoffs = [cause for wait in gone.waits for cause in wait.causes if cause["code"] == "backoff"]
    assert all(cause["until"] for cause in backoffs)
    assert {told["decision"] for told in gone.decisions} >= {"grow", "refused"}
    told = [(line.at, line.what, line.about) for line in lines(one.noting.kept, datetime.now(UTC), 1)]
    assert sorted(told, key=lambda line: line[0]) == told
    assert len([line for line in told if line[1] == "grow"]) == len(one.said("grow")), "none twice"


def test_a_pod_that_no_pool_would_help_has_the_autoscaler_s_event_and_says_what_it_wants(one: Autoscaled) -> None:
    one.job("nowhere", 1, limits={"cpu": "1"}, nodeSelector={labels.PLACE: "nowhere"})
    (made,) = eventually(lambda: one.pods("nowhere"))
    pod = str(made["metadata"]["name"])
    eventually(lambda: "NotTriggerScaleUp" in events(one, pod), LONG)
    eventually(lambda: [*one.noting.kept.of(pod, None)] and "selector" in codes(why(one, pod)), LONG)
    assert "undecided" not in codes(why(one, pod))
    one.end("nowhere")

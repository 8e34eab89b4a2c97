"""Things that die, and work that may run in one place only, with the real Cluster Autoscaler: the count ends right."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from components.pools import labels
from local.providers.kubernetes.api import ApiError
from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import PODS, Autoscaled, autoscaled

# Minutes on a busy machine: the local AWS launches by and by.
pytestmark = pytest.mark.timeout(1500)
LONG = 600
CPU = "c7i.8xlarge"
WEST, EAST, EU = REGIONS = ("us-west-2", "us-east-1", "eu-west-1")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    with autoscaled(tmp_path_factory.mktemp("faults"), max_node_provision_time="90s") as made:
        yield made


def live(one: Autoscaled) -> dict[str, int]:
    return {region: one.live(region) for region in REGIONS}


def given_back(one: Autoscaled) -> None:
    """Its nodes too: a pod bound to one that goes would count as running."""
    eventually(lambda: not any(live(one).values()) and len(one.nodes()) == one.site, LONG)


@contextlib.contextmanager
def faults(one: Autoscaled, *given: dict[str, Any]) -> Iterator[None]:
    """In the block the cloud has these."""
    one.cloud.own("faults", [*given])
    try:
        yield
    finally:
        one.cloud.own("faults", [])


@contextlib.contextmanager
def jobs(one: Autoscaled, *names: str) -> Iterator[None]:
    """Ends them whatever comes: the next test has the same cluster."""
    try:
        yield
    finally:
        for name in names:
            with contextlib.suppress(ApiError):
                one.end(name)


def test_what_may_run_in_one_region_only_buys_there_and_cpu_work_buys_no_gpu(one: Autoscaled) -> None:
    before = one.launched()
    with jobs(one, "in-eu", "cpu"):
        one.job("in-eu", 5, nodeSelector={labels.PLACE: EU})
        one.job("cpu", 1, limits={"cpu": "20"}, nodeSelector={labels.KIND: "cpu"})
        eventually(lambda: one.running("in-eu") == 5 and one.running("cpu") == 1, LONG)
        assert one.launched() == {**before, EU: before[EU] + 5}


def test_a_count_ends_right_whatever_dies_meanwhile(one: Autoscaled) -> None:
    """The service, and then the autoscaler, each while machines come; and pods are still made while nodes register."""
    given_back(one)
    before = one.launched()
    with jobs(one, "first", "second"):
        one.job("first", 18)
        eventually(lambda: one.said("grow")[-1]["region"] == WEST and live(one)[WEST], LONG)
        one.service.process.kill()
        one.service.process.wait()
        one.job("second", 10)
        one.service.start()
        eventually(lambda: one.running("first") + one.running("second") >= 20, LONG)
        one.kube.end("cluster-autoscaler")
        one.scale()
        eventually(lambda: one.running("first") + one.running("second") == 28, LONG)
        assert one.launched() == {**before, WEST: before[WEST] + 20}


def test_a_region_s_api_throttles_and_is_out_midway_and_a_machine_is_ended_behind_its_back(one: Autoscaled) -> None:
    given_back(one)
    before, said = one.launched(), len(one.said("grow"))
    throttled = {"kind": "throttling", "calls": 1, "service": "autoscaling", "operation": "SetDesiredCapacity"}
    with jobs(one, "steady"):
        with faults(one, {**throttled, "region": WEST}):
            one.job("steady", 11)
            told = eventually(lambda: one.said("grow")[said:], LONG)[0]
        assert one.said("no-grow")[-1]["region"] == WEST
        problems = len(one.said("region-problem"))
        with faults(one, {"kind": "outage", "region": told["region"]}):
            eventually(lambda: len(one.said("region-problem")) > problems, LONG)
        eventually(lambda: one.running("steady") == 11, LONG)
        assert sum(one.launched().values()) == sum(before.values()) + 3
        ec2 = one.cloud.client("ec2", told["region"])
        lost = next(id_ for id_, _ in one.machines(told["region"]) if id_ in one.joined)
        (pod,) = [pod for pod in one.pods("steady") if pod["spec"]["nodeName"] == lost]
        ec2.terminate_instances(InstanceIds=[lost])
        eventually(lambda: lost not in one.joined, LONG)
        # As the pods' collector does, where one runs.
        one.api.call("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": "0"})
        eventually(lambda: one.running("steady") == 11 and sum(live(one).values()) == 3, LONG)
        assert sum(one.launched().values()) == sum(before.values()) + 4, (
            "its scaling group has replaced it, nobody else"
        )
    given_back(one)


def test_the_api_server_starts_anew_while_machines_come(one: Autoscaled) -> None:
    before = len(one.cloud.launched(WEST, CPU))
    said = len(one.said("grow"))
    with jobs(one, "cpu-burst"):
        one.cpu_job("cpu-burst", 6, 20)
        eventually(lambda: len(one.said("grow")) > said, LONG)
        one.kube.end("kube-apiserver")
        one.kube.start("kube-apiserver", *one.kube.flags)
        one.kube.until_ready()
        eventually(lambda: one.running("cpu-burst") == 6, LONG)
        assert len(one.cloud.launched(WEST, CPU)) == before + 6


def test_a_machine_that_never_joins_is_given_back_and_another_is_bought(one: Autoscaled) -> None:
    given_back(one)
    before = one.launched()
    one.join_none = True
    with jobs(one, "late"):
        one.job("late", 9)
        eventually(lambda: sum(one.launched().values()) > sum(before.values()), LONG)
        (lost,) = eventually(lambda: one.lost)
        one.join_none = False
        eventually(lambda: one.running("late") == 9, LONG)
        eventually(lambda: lost not in {id_ for region in REGIONS for id_, _ in one.machines(region)}, LONG)
    given_back(one)
    assert sum(one.launched().values()) == sum(before.values()) + 2

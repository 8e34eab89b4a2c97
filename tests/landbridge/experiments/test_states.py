"""What has become of runs, from JobSets and workloads."""

import io
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from landbridge.experiments import follow
from landbridge.experiments.manifest import manifest
from landbridge.experiments.states import RunState, states

from . import bed

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
NOW = CREATED + timedelta(hours=2)


def at(hours: float) -> str:
    return (CREATED + timedelta(hours=hours)).isoformat()


def condition(kind: str, hours: float, message: str = "") -> dict[str, Any]:
    return {"type": kind, "status": "True", "message": message, "lastTransitionTime": at(hours)}


def job_set(**status: Any) -> dict[str, Any]:
    made = manifest(bed.launched())
    return {**made, "metadata": {**made["metadata"], "creationTimestamp": at(0)}, "status": status}


def workload(place: str, *conditions: dict[str, Any], **status: Any) -> dict[str, Any]:
    pods = manifest(bed.launched())["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    flavors = {"nvidia.com/gpu": place}
    return {
        "metadata": {
            "name": "w",
            "namespace": "team-vision",
            "creationTimestamp": at(0),
            "ownerReferences": [{"kind": "JobSet", "name": "train-1"}],
        },
        "spec": {"podSets": [{"name": "worker", "count": 2, "template": pods}]},
        "status": {
            "conditions": list(conditions),
            **({"admission": {"podSetAssignments": [{"name": "worker", "flavors": flavors}]}} if place else {}),
            **status,
        },
    }


def only(one: dict[str, Any], *workloads: dict[str, Any]) -> RunState:
    (found,) = states([one], workloads, bed.empty_room(), bed.spec(), NOW)
    return found


READY = [{"name": "worker", "ready": 1, "succeeded": 0}]
ADMITTED = (condition("QuotaReserved", 0.5), condition("Admitted", 0.5))


def test_one_that_was_just_queued_waits() -> None:
    found = only(job_set())
    assert (found.phase, found.place, found.gpu_hours, found.since) == ("waits", "", 0.0, CREATED)
    assert (found.person, found.gpus, found.command) == ("bob", 16, ["python", "train.py"])


def test_one_whose_hosts_are_not_all_there_starts() -> None:
    found = only(
        job_set(replicatedJobsStatus=[{"name": "worker", "ready": 0, "succeeded": 0}]), workload("room", *ADMITTED)
    )
    assert (found.phase, found.place) == ("starts", "room")


def test_one_that_runs_tells_where_and_what_it_has_used() -> None:
    found = only(job_set(replicatedJobsStatus=READY), workload("room", *ADMITTED))
    assert (found.phase, found.place, found.gpu_hours, found.usd) == ("runs", "room", 24.0, 0.0)


def test_what_was_used_before_it_was_preempted_counts() -> None:
    before = workload("room", *ADMITTED, accumulatedPastExecutionTimeSeconds=3600)
    assert only(job_set(replicatedJobsStatus=READY), before).gpu_hours == 40.0


def test_one_that_has_ended_uses_no_more() -> None:
    done = job_set(terminalState="Completed", conditions=[condition("Completed", 1.5)])
    found = only(done, workload("room", *ADMITTED, condition("Finished", 1.5)))
    assert (found.phase, found.ended, found.gpu_hours, found.since) == (
        "done",
        True,
        16.0,
        CREATED + timedelta(hours=1.5),
    )


def test_one_that_has_failed_says_why() -> None:
    failed = job_set(terminalState="Failed", conditions=[condition("Failed", 1, "jobset failed due to one")])
    assert only(failed, workload("room", *ADMITTED)).why == "jobset failed due to one"


def test_where_nobody_has_said_a_price_the_cost_is_not_known() -> None:
    assert only(job_set(replicatedJobsStatus=READY), workload("us-west-2", *ADMITTED)).usd is None


def test_what_others_have_made_is_no_run() -> None:
    other = job_set()
    del other["metadata"]["labels"]["landbridge.dev/run"]
    assert states([other], [], bed.empty_room(), bed.spec(), NOW) == []


def pod(rank: str, state: str, *beside: str) -> dict[str, Any]:
    labels = {"landbridge.dev/run": "train-1", "landbridge.dev/part": "worker"}
    return {
        "metadata": {"labels": labels, "annotations": {"batch.kubernetes.io/job-completion-index": rank}},
        "spec": {"initContainers": [{"name": name} for name in beside]},
        "status": {"podIP": f"10.0.0.{rank}", "containerStatuses": [{"state": {state: {}}}]},
    }


def test_tensorboard_is_told_once_its_host_runs() -> None:
    told = follow.board([pod("1", "running", "tensorboard"), pod("0", "running", "code", "tensorboard")], " --local")
    assert told == (
        "TensorBoard: http://10.0.0.0:6006 in the VPN; elsewhere by "
        "`landbridge forward train-1 6006 --part worker --local`"
    )
    assert follow.board([pod("0", "waiting", "tensorboard")], "") == ""
    assert follow.board([pod("0", "running", "code")], "") == ""


def test_a_host_without_code_says_why() -> None:
    ended = {"name": "code", "state": {"terminated": {"exitCode": 1, "message": "code: it is not there any more\n"}}}
    one = {**pod("0", "waiting"), "status": {"initContainerStatuses": [ended]}}
    printed = follow.Printed(io.BytesIO())
    assert follow.unread(one, printed, time.monotonic()) == "code: it is not there any more"
    assert follow.unread(pod("0", "running"), printed, time.monotonic()) is None
    assert follow.unread(pod("0", "running"), printed, -follow.OUTPUT_SECONDS) == "what it has printed can't be read: "
    assert follow.unread(None, printed, 0.0) == ""

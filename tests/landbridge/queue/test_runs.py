"""What `landbridge queue` makes of Kueue's workloads."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from components.addons.queues import OF_TEAMS, PRIORITIES, TEAM_GPUS
from fleet.model import TeamQueue
from landbridge.queue.room import room
from landbridge.queue.runs import DEFAULT, Queues, Run, read

TEAMS = {"vision": TeamQueue(gpus=16), "robots": TeamQueue(gpus=16, borrows=0), "speech": TeamQueue(gpus=8, borrows=8)}
CAPACITY = {"room": 32, "us-west-2": 16}


def workload(
    name: str, team: str, hosts: int, place: str = "", *, at: int = 0, priority: int = 0, **conditions: str
) -> dict[str, Any]:
    """`conditions` are those that are true, with their messages; a run in a place has its quota."""
    container = {"name": "train", "resources": {"limits": {"nvidia.com/gpu": 8}}}
    pods = {"name": "main", "count": hosts, "template": {"spec": {"containers": [container]}}}
    truth = {**({"QuotaReserved": ""} if place else {}), **conditions}
    found = [
        {"type": kind, "status": "True", "message": message, "lastTransitionTime": f"2026-01-01T00:01:{at:02}Z"}
        for kind, message in truth.items()
    ]
    admission = {"podSetAssignments": [{"name": "main", "flavors": {"nvidia.com/gpu": place, TEAM_GPUS: OF_TEAMS}}]}
    return {
        "metadata": {
            "name": f"jobset-{name}-12345",
            "namespace": f"team-{team}",
            "creationTimestamp": f"2026-01-01T00:00:{at:02}Z",
            "ownerReferences": [{"name": name}],
        },
        "spec": {"podSets": [pods], "priority": priority, "queueName": "runs"},
        "status": {"conditions": found, **({"admission": admission} if place else {})},
    }


def queue_objects(workloads: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """ClusterQueues, as Kueue would count these workloads in their status."""
    held: dict[str, Counter[str]] = {team: Counter() for team in TEAMS}
    waiting = Counter[str]()
    for one in workloads:
        team = one["metadata"]["namespace"].removeprefix("team-")
        if team not in TEAMS or any(each["type"] == "Finished" for each in one["status"]["conditions"]):
            continue
        gpus = 8 * one["spec"]["podSets"][0]["count"]
        for assigned in one["status"].get("admission", {}).get("podSetAssignments", []):
            held[team].update(dict.fromkeys(assigned["flavors"].values(), gpus))
        waiting[team] += "admission" not in one["status"]
    return [
        {
            "metadata": {"name": team},
            "status": {
                "pendingWorkloads": waiting[team],
                "flavorsReservation": [
                    {"name": name, "resources": [{"name": "any", "total": str(gpus)}]} for name, gpus in found.items()
                ],
            },
        }
        for team, found in held.items()
    ]


def queues(*workloads: dict[str, Any]) -> Queues:
    return read(workloads, room(queue_objects(workloads), TEAMS, CAPACITY))


def of(name: str, *workloads: dict[str, Any]) -> Run:
    return next(run for run in queues(*workloads).runs if run.name == name)


RUNNING = workload("running", "robots", 2, "room", at=1, Admitted="")


def test_what_teams_hold_and_places_have_free_is_counted() -> None:
    found = queues(RUNNING, workload("waiting", "robots", 1, at=2))
    assert [(one.team, one.owns, one.holds, one.waiting) for one in found.shares] == [
        ("robots", 16, 16, 1),
        ("speech", 8, 0, 0),
        ("vision", 16, 0, 0),
    ]
    assert [(one.place, one.free) for one in found.places] == [("room", 16), ("us-west-2", 16)]


def test_what_has_ended_and_who_has_no_queue_is_left_out() -> None:
    ended = workload("ended", "vision", 1, "room", Finished="", Admitted="")
    found = queues(ended, workload("other", "guests", 1))
    assert not found.runs
    assert found.places[0].held == 0


def test_a_run_that_has_begun_tells_where_and_since_when() -> None:
    run = of("running", RUNNING)
    assert (run.state, run.place, run.gpus, run.why) == ("runs", "room", 16, "")
    assert run.since == datetime(2026, 1, 1, 0, 1, 1, tzinfo=UTC)


def test_a_run_without_a_priority_has_the_one_in_the_middle() -> None:
    assert of("running", RUNNING).priority == DEFAULT
    assert PRIORITIES[DEFAULT] == 0
    named = workload("named", "vision", 1)
    named["spec"]["priorityClassRef"] = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    assert of("named", named).priority == "high"


def test_a_run_of_a_cloud_says_that_its_machines_are_asked_for() -> None:
    one = workload("bought", "vision", 2, "us-west-2")
    one["status"]["admissionChecks"] = [{"name": "machines", "state": "Pending", "message": "waits for 2 machines"}]
    run = of("bought", one)
    assert (run.state, run.why) == ("starts", "its machines are asked for in us-west-2: waits for 2 machines")


@pytest.mark.parametrize(
    ("waiting", "why"),
    [
        (("robots", 1), "robots holds 16 GPUs of 16: it owns 16 and may borrow none"),
        (("robots", 3), "never: it asks for 24 GPUs, and robots may hold 16: it owns 16 and may borrow none"),
        (("speech", 3), "never: it asks for 24 GPUs, and speech may hold 16: it owns 8 and may borrow 8"),
        (("vision", 5), "never: it asks for 40 GPUs, and room, the largest place, has 32"),
        (("vision", 3), "no place has 24 GPUs free: 16 of 32 in room, 16 of 16 in us-west-2"),
        (("vision", 1), "nobody has looked at it yet"),
    ],
)
def test_what_waits_says_what_is_short_in_the_fleet_file_s_words(waiting: tuple[str, int], why: str) -> None:
    assert of("waiting", RUNNING, workload("waiting", *waiting, at=2)).why == why


def test_what_the_numbers_do_not_tell_is_told_in_kueue_s_words() -> None:
    one = workload("waiting", "vision", 1)
    condition = {"type": "QuotaReserved", "status": "False", "message": "LocalQueue is held"}
    one["status"]["conditions"] = [condition]
    assert of("waiting", one).why == "LocalQueue is held"
    condition["message"] = f"insufficient unused quota for {TEAM_GPUS} in flavor of-teams, 8 more needed"
    assert of("waiting", one).why.startswith("others hold what vision could borrow: it owns 16 and may borrow what is")


def test_priority_goes_before_age_and_only_the_own_team_is_counted_before_a_run() -> None:
    line = [
        workload("old", "robots", 1, at=2),
        workload("young", "robots", 1, at=3),
        workload("urgent", "robots", 1, at=4, priority=100),
        workload("other", "vision", 1, at=1),
    ]
    found = queues(RUNNING, *line).runs
    assert [one.name for one in found] == ["running", "urgent", "other", "old", "young"]
    assert {one.name: one.ahead for one in found} == {"running": 0, "urgent": 0, "other": 0, "old": 1, "young": 2}


def test_one_that_was_sent_back_waits_since_then_and_one_that_is_stopped_says_by_what() -> None:
    back = workload("back", "vision", 1, at=5, Evicted="Preempted to accommodate a workload")
    assert (of("back", back).state, of("back", back).since.minute) == ("waits", 1)
    back["spec"]["active"] = False
    assert (of("back", back).state, of("back", back).why) == ("stopped", "Preempted to accommodate a workload")

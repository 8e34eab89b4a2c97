"""What EC2's answers show, in the forms of its API reference."""

from datetime import UTC, datetime
from typing import Any

import pytest

from evidence.aws.machines import of_activity, of_instance, of_status
from evidence.judge import judge
from evidence.observation import Observation, moment

AT = moment("2026-11-28T10:00:00Z")
NOW = AT + 90


def instance(state: str, code: str = "", message: str = "", moved: str = "") -> dict[str, Any]:
    reason = {"StateReason": {"Code": code, "Message": message}} if code else {}
    return {"InstanceId": "i-1", "State": {"Name": state}, "StateTransitionReason": moved, **reason}


CASES = {
    "spot": (
        "Server.SpotInstanceTermination",
        "Server.SpotInstanceTermination: Spot instance termination",
        "spot-interruption",
    ),
    "retired": ("Server.ScheduledStop", "Server.ScheduledStop: Stopped due to scheduled retirement", "machine-retired"),
    "hardware": ("Server.InternalError", "Server.InternalError: Internal error on launch", "machine-failed"),
    "from within": (
        "Client.InstanceInitiatedShutdown",
        "Client.InstanceInitiatedShutdown: Instance initiated shutdown",
        "machine-ended",
    ),
    "by somebody": (
        "Client.UserInitiatedShutdown",
        "Client.UserInitiatedShutdown: User initiated shutdown",
        "machine-ended",
    ),
    "by what nobody knows": ("Server.Else", "Server.Else: new", "machine-ended"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_machine_that_went_is_the_cause_and_the_pod_s_signal_what_followed(name: str) -> None:
    code, message, cause = CASES[name]
    seen = of_instance(instance("terminated", code, message, "User initiated (2026-11-28 10:00:00 GMT)"), "gpu-1", NOW)
    assert [one.at for one in seen] == [AT]
    silent = Observation(
        AT + 50, "node controller", "node/gpu-1", "node-silent", "Kubelet stopped posting node status."
    )
    marked = Observation(AT + 350, "API server", "pod/team-a/train-0", "taint-manager", "m", "u")
    found = judge([*seen, silent, marked])
    assert found.code == cause
    assert message in found.sentence
    assert [one.cause.code for one in found.followed] == ["node-silent", "taint-manager"]


def test_what_the_autoscaler_gave_back_ended_by_the_autoscaler() -> None:
    seen = of_instance(instance("terminated", "Client.UserInitiatedShutdown", "m"), "gpu-1", NOW)
    marked = Observation(AT - 60, "node", "node/gpu-1", "scale-down", "the autoscaler marked it")
    gone = Observation(NOW + 20, "API server", "pod/team-a/train-0", "node-gone", "m", "u")
    assert judge([marked, *seen, gone]).code == "scale-down"


def test_a_machine_that_runs_shows_nothing_and_one_without_a_time_has_that_of_the_question() -> None:
    assert of_instance(instance("running"), "gpu-1", NOW) == []
    (one,) = of_instance(instance("stopped", "Client.UserInitiatedShutdown", "m"), "gpu-1", NOW)
    assert (one.at, one.facts) == (NOW, {"machine": "i-1"})


def test_the_local_cloud_s_form_of_the_time_counts_too() -> None:
    (seen,) = of_instance(instance("terminated", moved="User initiated (2026-11-28 10:00:00 UTC)"), "gpu-1", NOW)
    assert seen.at == AT


def test_what_is_scheduled_is_told_and_what_is_over_is_not() -> None:
    when = datetime.fromtimestamp(AT, UTC)
    events = [
        {
            "Code": "instance-retirement",
            "Description": "The instance is running on degraded hardware",
            "NotBefore": when,
        },
        {"Code": "instance-stop", "Description": "[Completed] The instance was stopped", "NotBefore": when},
        {"Code": "system-reboot", "Description": "The system will be restarted", "NotBefore": when},
    ]
    (one,) = of_status({"InstanceId": "i-1", "Events": events}, "gpu-1")
    assert (one.code, one.at, one.text) == (
        "scheduled-retirement",
        AT,
        "instance-retirement: The instance is running on degraded hardware",
    )


def test_a_group_s_word_is_kept_for_its_own_machine() -> None:
    cause = "At 2026-11-28T10:00:00Z an instance was taken out of service in response to an EC2 health check"
    activity = {
        "Description": "Terminating EC2 instance: i-1",
        "Cause": cause,
        "StartTime": datetime.fromtimestamp(AT, UTC),
    }
    one = of_activity(activity, {"InstanceId": "i-1"}, "gpu-1")
    assert one is not None
    assert (one.code, one.text) == ("group-says", cause)
    assert of_activity(activity, {"InstanceId": "i-2"}, "gpu-1") is None

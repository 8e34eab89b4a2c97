"""What EC2 says of a machine that is down or gone. Pure.

EC2's API reference, StateReason: codes of Server are AWS's doing, those of Client somebody's in the account.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from evidence.observation import Json, Observation

SOURCE = "EC2"
# StateReason's code → what it shows. Of others nothing follows.
REASONS: Mapping[str, str] = {
    "Server.SpotInstanceTermination": "spot-notice",
    "Server.SpotInstanceShutdown": "spot-notice",
    "Server.ScheduledStop": "scheduled-retirement",
    "Server.InternalError": "machine-failed",
    "Client.InternalError": "machine-failed",
    "Client.InstanceInitiatedShutdown": "machine-off",
    "Client.UserInitiatedShutdown": "machine-ended",
    "Client.UserInitiatedHibernate": "machine-ended",
}
DOWN = ("shutting-down", "terminated", "stopping", "stopped")
# As it is in StateTransitionReason: User initiated (2026-11-28 10:00:00 GMT). Local AWS has UTC there.
WHEN = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:GMT|UTC)\)")
# An instance's scheduled events that end it ("Scheduled events for your instances"); of restarts the node tells itself.
RETIRING = ("instance-retirement", "instance-stop")
OVER = "[Completed]"


def is_down(instance: Json) -> bool:
    return str((instance.get("State") or {}).get("Name")) in DOWN


def of_instance(instance: Json, node: str, now: float) -> list[Observation]:
    """Of an answer of DescribeInstances; nothing of a machine that runs. `now` is when EC2 was asked."""
    if not is_down(instance):
        return []
    told, moved = instance.get("StateReason") or {}, str(instance.get("StateTransitionReason") or "")
    code = REASONS.get(str(told.get("Code")), "machine-ended")
    words = [str(told.get("Message") or ""), moved]
    at = when[0] if (when := [*_times(moved)]) else now
    return [_seen(node, at, code, "; ".join(one for one in words if one), instance)]


def of_status(status: Json, node: str) -> list[Observation]:
    """Of an answer of DescribeInstanceStatus: what AWS has scheduled, at the time of which it is."""
    found = []
    for one in status.get("Events") or []:
        if one["Code"] in RETIRING and not str(one.get("Description")).startswith(OVER):
            text = f"{one['Code']}: {one.get('Description', '')}"
            found.append(_seen(node, one["NotBefore"].timestamp(), "scheduled-retirement", text, status))
    return found


def of_activity(activity: Json, instance: Json, node: str) -> Observation | None:
    """Of an answer of DescribeScalingActivities: why its group let the machine go; None for what is of another one."""
    if instance["InstanceId"] not in str(activity.get("Description")):
        return None
    return _seen(node, activity["StartTime"].timestamp(), "group-says", str(activity.get("Cause") or ""), instance)


def _times(text: str) -> Iterator[float]:
    for one in WHEN.findall(text):
        yield datetime.strptime(one, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()


def _seen(node: str, at: float, code: str, text: str, machine: Json) -> Observation:
    return Observation(at, SOURCE, f"node/{node}", code, text, facts={"machine": machine["InstanceId"]})

"""What EC2 announces of an instance, and what comes of it when its time is there: by command, as nothing ails here.

EC2 user guide: "Scheduled events for your instances", "Spot Instance interruption notices", "EC2 instance rebalance
recommendations". Instance metadata and DescribeInstanceStatus have them in their own forms.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from moto.ec2.models.instances import Instance, StateReason

from .. import machine_reports
from .machines import find

SPOT, REBALANCE = "spot", "rebalance"
NOTICE_SECONDS = 120.0
# Code → what is done to the instance at its time; of a network's or a host's maintenance nothing is seen inside.
SCHEDULED: dict[str, Callable[[Any], None]] = {
    "instance-reboot": lambda instance: instance.reboot(),
    "system-reboot": lambda instance: instance.reboot(),
    "system-maintenance": lambda _: None,
    "instance-retirement": lambda instance: _end(instance, "Server.ScheduledStop", "Instance retirement"),
    "instance-stop": lambda instance: _end(instance, "Server.ScheduledStop", "Instance stop"),
}
WORDS = {
    "instance-reboot": "The instance is scheduled for a reboot",
    "system-reboot": "The host of the instance is scheduled for a reboot",
    "system-maintenance": "The instance is scheduled for maintenance of its host or network",
    "instance-retirement": "The instance is running on degraded hardware",
    "instance-stop": "The instance is running on degraded hardware",
}
# EC2 shows what is over for a week.
OVER, SHOWN_SECONDS = "completed", 7 * 86_400.0
# By instance.
_announced: dict[str, list[dict[str, Any]]] = {}


# Why an instance ended, where EC2 has ended it: its code and words.
_reasons: dict[str, tuple[str, str]] = {}


def install() -> None:
    """DescribeInstanceStatus has a member of the first name, DescribeInstances one of the second."""
    Instance.events = property(lambda self: [*_statuses(self.id)])
    Instance.state_reason = property(_reason, lambda self, value: vars(self).update(state_reason=value))


def _reason(instance: Any) -> Any:
    if instance.id in _reasons and instance.state != "running":
        code, words = _reasons[instance.id]
        return StateReason(f"{code}: {words}", code)
    return vars(instance)["state_reason"]


def put(body: bytes) -> dict[str, Any]:
    """POST events {"instance": ID, "code": …, "in_seconds": N, "lasts_seconds": N}: what is announced.

    `code` is one of EC2's, `spot` or `rebalance`. Raises KeyError, TypeError, ValueError.
    """
    told = json.loads(body)
    code, instance = str(told["code"]), find(told["instance"])
    if code not in (*SCHEDULED, SPOT, REBALANCE):
        raise ValueError(f"EC2 announces no {code}: {', '.join((*SCHEDULED, SPOT, REBALANCE))}")
    if code in (SPOT, REBALANCE) and getattr(instance, "lifecycle", None) != "spot":
        raise ValueError(f"{instance.id} is no spot instance")
    now = time.time()
    at = now + float(told.get("in_seconds", NOTICE_SECONDS if code == SPOT else 0.0))
    one = {
        "id": f"instance-event-{uuid.uuid4().hex[:17]}",
        "code": code,
        "told": now,
        "at": at,
        "until": at + float(told.get("lasts_seconds", 7200.0)),
        "state": "active",
    }
    _announced.setdefault(instance.id, []).append(one)
    machine_reports.changed()
    return one


def withdraw(body: bytes) -> dict[str, Any]:
    """POST withdraw {"event": ID}: it does not come to it. Raises KeyError."""
    wanted = str(json.loads(body)["event"])
    for instance, known in _announced.items():
        for one in known:
            if one["id"] == wanted and one["state"] == "active":
                one |= {"state": "canceled", "until": time.time()}
                machine_reports.changed()
                return {"instance": instance, **one}
    raise KeyError(f"nothing announced is called {wanted}")


def settle() -> bool:
    """Does what is due. True while something is announced whose time will come."""
    now = time.time()
    for id_, known in [*_announced.items()]:
        for one in known:
            if one["state"] == "active" and one["at"] <= now:
                _carry_out(id_, one)
        _announced[id_] = [one for one in known if one["state"] == "active" or now - one["until"] < SHOWN_SECONDS]
    return any(one["state"] == "active" for known in _announced.values() for one in known)


def _carry_out(id_: str, one: dict[str, Any]) -> None:
    if one["code"] == REBALANCE:
        return  # it is advice, and stands for as long as the instance
    one["state"] = OVER
    try:
        instance = find(id_)
    except KeyError:
        return
    if instance.state != "running":
        return
    if one["code"] == SPOT:
        _end(instance, "Server.SpotInstanceTermination", "Spot instance termination")
    else:
        SCHEDULED[one["code"]](instance)


def _end(instance: Any, code: str, words: str) -> None:
    """Its scaling group launches another one."""
    _reasons[instance.id] = code, words
    instance.ec2_backend.terminate_instances([instance.id])


def of(id_: str) -> list[dict[str, Any]]:
    """What instance metadata shows: of scheduled events those that are active, as it has them by default."""
    return [one for one in _announced.get(id_, []) if one["state"] == "active"]


def _statuses(id_: str) -> Iterator[dict[str, Any]]:
    """As the API has them. Spot notices and advice are none."""
    for one in _announced.get(id_, []):
        if one["code"] in SCHEDULED:
            mark = "" if one["state"] == "active" else f"[{one['state'].capitalize()}] "
            yield {
                "InstanceEventId": one["id"],
                "Code": one["code"],
                "Description": f"{mark}{WORDS[one['code']]}",
                "NotBefore": datetime.fromtimestamp(one["at"], UTC),
                "NotAfter": datetime.fromtimestamp(one["until"], UTC),
            }

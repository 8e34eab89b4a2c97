"""What a test makes fail: POST /landbridge-api/faults with a list as JSON, GET lists what is left of it, DELETE clears.

[{"region": "us-west-2", "instance_type": "p5.48xlarge", "capacity": 2},
 {"kind": "throttling", "calls": 3, "service": "ec2", "operation": "CreateVpc"},
 {"kind": "lost", "calls": 1, "operation": "SetDesiredCapacity"},
 {"kind": "outage", "region": "eu-west-1"}]
"""

import json
import threading
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """Of these machines the region (or one of its zones) has only `capacity`; the next one is refused with `code`."""

    region: str
    instance_type: str
    capacity: int
    zone: str | None = None
    code: str = "InsufficientInstanceCapacity"


class Throttling(NamedTuple):
    """The next `calls` calls are throttled: all, or those of a service, of an operation, to a region."""

    calls: int
    service: str | None = None
    operation: str | None = None
    region: str | None = None


class LostAnswer(NamedTuple):
    """The next such `calls` calls are carried out, and the connection breaks before their answer."""

    calls: int
    service: str | None = None
    operation: str | None = None
    region: str | None = None


class Outage(NamedTuple):
    """Every call to the region is answered with ServiceUnavailable until this is lifted."""

    region: str


KINDS: dict[str, type[Fault] | type[Throttling] | type[LostAnswer] | type[Outage]] = {
    "capacity": Fault,
    "throttling": Throttling,
    "lost": LostAnswer,
    "outage": Outage,
}

_faults: list[Fault | Throttling | LostAnswer | Outage] = []
_lock = threading.Lock()


def put(body: bytes) -> int:
    """Replaces all faults; how many there are now. Raises TypeError, KeyError or ValueError for anything else."""
    given = [dict(fault) for fault in json.loads(body)]
    made = [KINDS[fault.pop("kind", "capacity")](**fault) for fault in given]
    with _lock:
        _faults[:] = made
    return len(made)


def listing() -> list[dict[str, Any]]:
    """All faults as they can be put back; of those that count calls, how many are left."""
    names = {kind: name for name, kind in KINDS.items()}
    return [{"kind": names[type(fault)], **fault._asdict()} for fault in list(_faults)]


def out(region: str) -> bool:
    """Whether the whole region is out."""
    return Outage(region) in _faults


def met(kind: type[Throttling] | type[LostAnswer], service: str, operation: str | None, region: str) -> bool:
    """Whether this call is to be throttled, or its answer lost; takes it off the first such fault that it fits."""
    call = {"service": service, "operation": operation, "region": region}
    with _lock:
        for number, fault in enumerate(_faults):
            if isinstance(fault, kind) and all(getattr(fault, key) in (None, call[key]) for key in call):
                left = fault._replace(calls=fault.calls - 1)
                _faults[number : number + 1] = [left] if left.calls > 0 else []
                return fault.calls > 0
    return False


def refusal(region: str, instance_type: str, zone: str, running: dict[str, int]) -> str | None:
    """AWS's words when one machine more is not to be had; `running` counts the type's machines by zone."""
    for fault in (fault for fault in list(_faults) if isinstance(fault, Fault)):
        if (fault.region, fault.instance_type) == (region, instance_type) and fault.zone in (None, zone):
            there = running.get(zone, 0) if fault.zone else sum(running.values())
            if there >= fault.capacity:
                return (
                    f"We currently do not have sufficient {instance_type} capacity in the Availability Zone you "
                    f"requested ({zone}). Our system will be working on provisioning additional capacity. "
                    f"Launching EC2 instance failed. ({fault.code})"
                )
    return None

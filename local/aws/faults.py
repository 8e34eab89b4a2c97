"""Capacity that runs out when a test says so: POST /landbridge-api/faults with a list of `Fault`s as JSON."""

import json
from typing import NamedTuple


class Fault(NamedTuple):
    """Of these machines the region (or one of its zones) has only `capacity`; the next one is refused with `code`."""

    region: str
    instance_type: str
    capacity: int
    zone: str | None = None
    code: str = "InsufficientInstanceCapacity"


_faults: list[Fault] = []


def put(body: bytes) -> int:
    """Replaces all faults; how many there are now. Raises TypeError or ValueError for anything but a list of them."""
    _faults[:] = [Fault(**fault) for fault in json.loads(body)]
    return len(_faults)


def refusal(region: str, instance_type: str, zone: str, running: dict[str, int]) -> str | None:
    """AWS's words when one machine more is not to be had; `running` counts the type's machines by zone."""
    for fault in _faults:
        if (fault.region, fault.instance_type) == (region, instance_type) and fault.zone in (None, zone):
            there = running.get(zone, 0) if fault.zone else sum(running.values())
            if there >= fault.capacity:
                return (
                    f"We currently do not have sufficient {instance_type} capacity in the Availability Zone you "
                    f"requested ({zone}). Our system will be working on provisioning additional capacity. "
                    f"Launching EC2 instance failed. ({fault.code})"
                )
    return None

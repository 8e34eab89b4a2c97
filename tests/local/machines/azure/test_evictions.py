"""A spot machine of the local Azure is told half a minute before it loses its hardware, and may be ready sooner."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from ..inside import Inside, eventually
from .inside import SCRIPT, encoded, meta, running

EVENTS = "scheduledevents?api-version=2020-07-01"
SPOT = "priority='Spot', evictionPolicy={!r}, billingProfile={{'maxPrice': -1}}"
FIRST, SECOND, ALONE = "spot-000000", "spot-000001", "alone"


@pytest.fixture(scope="module")
def spots(azure: Inside) -> Iterator[Inside]:
    """A spot set of two, whose machines go, and one that stands alone, which is deallocated."""
    azure(f"scale_set('spot', subnets['a'], 2, script, {SPOT.format('Delete')})", script=encoded(SCRIPT))
    told = f"machine('alone', [nic('alone', subnets['b'], '10.1.2.201')], script, {SPOT.format('Deallocate')})"
    azure(told, script=encoded(SCRIPT))
    for name in (FIRST, SECOND, ALONE):
        eventually(lambda name=name: running(azure, name))
    yield azure
    azure("""
        delete("Microsoft.Compute/virtualMachineScaleSets", "spot")
        delete("Microsoft.Compute/virtualMachines", "alone")
        delete("Microsoft.Network/networkInterfaces", "alone")
    """)


def evict(azure: Inside, name: str) -> None:
    azure(
        "own('evict', {'id': id}, 'POST')",
        id=meta(azure, name, "instance?api-version=2021-02-01")[1]["compute"]["resourceId"],
    )


def start(azure: Inside, name: str, event: str) -> str:
    """The status of a machine's saying that it is ready."""
    body = json.dumps({"StartRequests": [{"EventId": event}]})
    url = f"'http://169.254.169.254/metadata/{EVENTS}'"
    return azure.sh(name, f"curl -s -o /dev/null -w '%{{http_code}}' -H Metadata:true -d '{body}' {url}")


def test_an_eviction_is_told_and_comes_at_once_to_who_is_ready(spots: Inside) -> None:
    before: Any = meta(spots, FIRST, EVENTS)[1]
    assert before["Events"] == []
    evict(spots, FIRST)
    for name in (FIRST, SECOND):  # all of a set hear of it
        status, told = meta(spots, name, EVENTS)
        (event,) = told["Events"]
        assert status == 200
        assert told["DocumentIncarnation"] > before["DocumentIncarnation"]
    assert meta(spots, ALONE, EVENTS)[1]["Events"] == []
    said = {
        name: event[name]
        for name in ("EventType", "EventStatus", "ResourceType", "Resources", "EventSource", "DurationInSeconds")
    }
    assert said == {
        "EventType": "Preempt",
        "EventStatus": "Scheduled",
        "ResourceType": "VirtualMachine",
        "Resources": ["spot_0"],
        "EventSource": "Platform",
        "DurationInSeconds": -1,
    }
    left = parsedate_to_datetime(event["NotBefore"]) - datetime.now(UTC)
    assert 0 < left.total_seconds() <= 31
    assert running(spots, FIRST), "it has its half minute"
    assert start(spots, FIRST, "00000000-0000-0000-0000-000000000000") == "400"
    assert start(spots, FIRST, event["EventId"]) == "200"
    eventually(lambda: FIRST not in [one["machine"] for one in spots.machines()], 10)
    assert meta(spots, SECOND, EVENTS)[1]["Events"] == []


def test_who_is_not_ready_loses_it_when_the_time_is_over(spots: Inside) -> None:
    evict(spots, ALONE)
    began = time.monotonic()
    eventually(lambda: spots.machine(ALONE)["state"] == "stopped", 60)
    assert time.monotonic() - began > 20
    view = "result = arm('GET', f'{PLACE}/providers/Microsoft.Compute/virtualMachines/alone/instanceView')['statuses']"
    assert spots(view)[-1]["code"] == "PowerState/deallocated"
    spots("act('alone', 'start')")
    eventually(lambda: running(spots, ALONE))
    assert meta(spots, ALONE, EVENTS)[1]["Events"] == []


def test_events_are_asked_for_as_azure_has_it(spots: Inside) -> None:
    assert meta(spots, SECOND, "scheduledevents?api-version=2021-02-01")[0] == 400, "their versions are their own"
    assert meta(spots, SECOND, EVENTS, Metadata="")[0] == 400

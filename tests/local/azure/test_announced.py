"""What the local Azure announces by command: each kind in Scheduled Events' form, taken back, and refused where none is."""

import urllib.error
from typing import Any

import pytest
from azure.mgmt.compute import ComputeManagementClient

from tests.local.azure.machines import Pools

from .support import LocalAzure


@pytest.fixture
def machine(azure: LocalAzure, group: str) -> str:
    """The vmId of one of a scale set."""
    pools = Pools(azure, azure.client(ComputeManagementClient), group)
    pools.put(1)
    found = azure.own("machines")
    return str(next(one["vm_id"] for one in found if one["id"].lower().startswith(pools.path.lower())))


def id_of(azure: LocalAzure, vm_id: str) -> str:
    return str(next(one["id"] for one in azure.own("machines") if one["vm_id"] == vm_id))


def told(azure: LocalAzure, vm_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = azure.own("events", id_of(azure, vm_id), "POST")["Events"]
    return found


@pytest.mark.parametrize("kind", ["Freeze", "Reboot", "Redeploy", "Terminate"])
def test_a_machine_is_told_of_each_kind_until_it_is_taken_back(kind: str, azure: LocalAzure, machine: str) -> None:
    azure.own("announce", {"id": machine, "type": kind, "in_seconds": 600}, "POST")
    (event,) = told(azure, machine)
    assert (event["EventType"], event["EventStatus"]) == (kind, "Scheduled")
    azure.own("withdraw", {"id": machine}, "POST")
    assert told(azure, machine) == []


def test_a_reboot_starts_it_once_more_when_it_is_ready(azure: LocalAzure, machine: str) -> None:
    id_ = id_of(azure, machine)
    before = next(one["starts"] for one in azure.own("machines") if one["id"] == id_)
    azure.own("announce", {"id": machine, "type": "Reboot"}, "POST")
    (event,) = told(azure, machine)
    azure.own("start_events", [id_, {"StartRequests": [{"EventId": event["EventId"]}]}], "POST")
    (after,) = [one for one in azure.own("machines") if one["id"] == id_]
    assert (after["starts"], after["power"], told(azure, machine)) == (before + 1, "running", [])


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("announce", {"type": "Flood"}),
        ("announce", {"type": "Preempt"}),
        ("withdraw", {}),
    ],
)
def test_what_it_would_not_announce_is_refused(
    call: str, body: dict[str, str], azure: LocalAzure, machine: str
) -> None:
    with pytest.raises(urllib.error.HTTPError, match="400"):
        azure.own(call, {"id": machine, **body}, "POST")

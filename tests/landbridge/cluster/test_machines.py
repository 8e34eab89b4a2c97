"""What ails a cluster's machine, as `cluster status` and each step of a roll tell it."""

from types import SimpleNamespace
from typing import Any

import pytest

from landbridge.cluster.info import MachineInfo
from landbridge.cluster.machines import Machines
from landbridge.etcd.ring import Member, View
from landbridge.remote_execution import CommandResult, Instance, RemoteExecutionError

API = MachineInfo("main-api-1", "api", "a", "10.0.0.1", "main-api-1.x", "g")
ETCD = MachineInfo("main-etcd-1", "etcd", "a", "10.0.0.2", "main-etcd-1.x", "g")
THERE = Instance("i-1", "10.0.0.1", "ami-1")


def machines(said: str = "ok", unbalanced: str = "") -> Machines:
    """Of a cluster whose API servers say so, and to which the balancer sends calls unless told else."""

    def run(*_given: Any) -> CommandResult:
        if not said:
            raise RemoteExecutionError("main-api-1 can't be reached")
        return CommandResult(0, said, "")

    cloud = SimpleNamespace(unbalanced=lambda _info, _machine: unbalanced)
    session: Any = SimpleNamespace(info=None, remote=SimpleNamespace(run=run), cloud=cloud)
    return Machines(session)


@pytest.mark.parametrize(
    ("said", "unbalanced", "ails"),
    [
        ("ok", "", []),
        ("not yet", "", ["its API server is not ready"]),
        ("ok", "the balancer sends it nothing: unhealthy", ["the balancer sends it nothing: unhealthy"]),
        ("", "", ["main-api-1 can't be reached"]),
    ],
)
def test_a_server_of_the_api_is_well_when_it_is_ready_and_gets_calls(
    said: str, unbalanced: str, ails: list[str]
) -> None:
    assert machines(said, unbalanced).ails(API, THERE, {}) == ails
    assert machines(said, unbalanced).ails(API, None, {}) == ["no instance of it runs"]


def test_a_member_ails_by_ring() -> None:
    numbers = {"raft_index": 9, "applied": 9, "db_bytes": 1, "quota_bytes": 9, "revision": 5}
    well = Member(ETCD.name, "1", leader=True, answers=True, **numbers)  # type: ignore[arg-type]
    views = {"main": View("main", [well], queried=ETCD.name), "events": View("events", [], queried=ETCD.name)}
    assert machines().ails(ETCD, THERE, views) == ["etcd events: main-etcd-1 is no member"]

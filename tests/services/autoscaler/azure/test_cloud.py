"""A region of Azure: what the autoscaler asks of it, what it refuses, and what others do there."""

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from azure.core.exceptions import ServiceResponseError
from azure.mgmt.compute import ComputeManagementClient

from services.autoscaler import group as groups
from services.autoscaler import provider_ids
from services.autoscaler.azure import cloud as module
from services.autoscaler.azure.answers import Place
from services.autoscaler.azure.cloud import Azure
from services.autoscaler.cloud import CloudError
from services.autoscaler.protocol import messages
from services.autoscaler.region import ANYBODY
from services.autoscaler.scaling import Scaling
from services.autoscaler.service import Service
from services.autoscaler.settings import Settings
from tests.components.pools.joining_client import eventually
from tests.local.azure.conftest import azure, group  # noqa: F401
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.services.autoscaler.azure.bed import FAMILY, KIND, REGION, SET, SIZE, SPOT, Bed, laid, told


@pytest.fixture
def bed(azure: LocalAzure, group: str) -> Iterator[Bed]:  # noqa: F811
    yield from laid(azure, group)


def calls(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Operations that are asked for from now on."""
    found: list[str] = []
    asking = bed.cloud.calls.api_call

    def noted(operation: str) -> Any:
        found.append(operation)
        return asking(operation)

    monkeypatch.setattr(bed.cloud.calls, "api_call", noted)
    return found


def test_scale_sets_of_the_cluster_are_its_groups_and_an_empty_one_costs_no_call(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = calls(bed, monkeypatch)
    found, waiting = bed.cloud.groups()
    assert (sorted(found), waiting) == ([SET, SPOT], {})
    assert asked == ["VirtualMachineScaleSets_List"]


def test_machines_that_are_asked_for_come_and_are_known_by_their_nodes_ids(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bed.azure.own("pace", {"by_type": {KIND: 2}})
    began = time.monotonic()
    bed.grow(3)
    assert time.monotonic() - began < 2, "nobody waits for the machines"
    assert (bed.capacity(), bed.look().target) == (3, 3)
    assert bed.states() == ["starting"] * 3
    assert bed.running(3) == [f"{SET}_{number}" for number in range(3)]
    machine = bed.region.groups[SET].machines[0]
    assert (machine.node, provider_ids.instance(machine.provider)) == ("node000000", machine.id)
    assert bed.region.place[machine.id] == SET
    bed.region.look()
    asked = calls(bed, monkeypatch)
    bed.region.look()
    assert asked == ["VirtualMachineScaleSets_List"], "what rests is not listed again"
    assert not bed.region.busy


def test_a_set_is_not_at_rest_while_a_machine_of_it_comes_or_goes(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever Azure says of the set itself."""
    bed.grow(1)
    (machine,) = bed.running(1)
    asked = calls(bed, monkeypatch)
    listed = "VirtualMachineScaleSetVMs_List"
    bed.region.look()
    assert listed not in asked
    known = bed.cloud.known[SET]
    (one,) = known.instances
    comes = one._replace(machine=one.machine._replace(state="starting"))
    bed.cloud.known[SET] = known._replace(instances=(comes,))
    bed.region.look()
    assert asked.count(listed) == 1
    bed.region.look()
    assert asked.count(listed) == 1, "it has come"
    bed.cloud.terminating[machine] = time.monotonic()
    bed.region.look()
    assert asked.count(listed) == 2


def test_two_busy_sets_leave_room_in_azure_s_quota_of_reads(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    """900 in half an hour, of which a tenth is a look each 5 s for three minutes and what it lists."""
    bed.azure.own("pace", {"by_type": {KIND: 600}})
    for name in (SET, SPOT):
        bed.grow(2, name)
        bed.look(name)
    clock = SimpleNamespace(monotonic=time.monotonic, time=time.time)
    monkeypatch.setattr(module, "time", clock)
    bed.cloud.list_seconds = Azure.list_seconds
    asked, began = calls(bed, monkeypatch), time.monotonic()
    for number in range(36):
        clock.monotonic = lambda at=began + 5 * (number + 1): at
        found, _ = bed.cloud.groups()
        assert [(one.desired, len(one.machines)) for one in found.values()] == [(2, 2)] * 2
    assert len(asked) <= 90, "of three minutes"
    assert asked.count("VirtualMachineScaleSetVMs_List") >= 2 * 11, "and none is forgotten"


@pytest.mark.parametrize("leaves_failed", [True, False])
def test_machines_without_capacity_are_refused_with_azure_s_reason_and_the_rest_stays(
    bed: Bed, leaves_failed: bool
) -> None:
    bed.azure.own("pace", {"by_type": {KIND: 1}})
    full = {"location": REGION, "size": SIZE, "most": 2, "code": "AllocationFailed", "leaves_failed": leaves_failed}
    bed.azure.own("capacity", [full])
    bed.grow(5)
    eventually(lambda: bed.look().refused)
    one = bed.region.groups[SET]
    assert (len(one.refused), len(one.live), one.owed, one.target) == (3, 2, 0, 5)
    assert {(refused.kind.code, refused.kind.elsewhere) for refused in one.refused} == {("capacity", True)}
    assert one.refused[0].sentence.startswith("AllocationFailed: Allocation failed. We do not have sufficient capacity")
    eventually(lambda: bed.look() and bed.capacity() == 2 and len(bed.instances()) == 2)
    assert bed.running(2) == [f"{SET}_0", f"{SET}_1"], "those that came stay"
    bed.region.groups[SET] = groups.cleared(one, [refused.id for refused in one.refused])
    bed.azure.own("capacity", [])
    bed.grow(1)
    bed.running(3)


def test_a_quota_that_is_used_up_is_told_and_nothing_is_asked_of_the_set(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bed.azure.own("quotas", {REGION: {FAMILY: 192}})
    asked = calls(bed, monkeypatch)
    bed.grow(3)
    assert asked == ["VirtualMachineScaleSets_Get", "Usage_List"]
    one = bed.look()
    assert [refused.kind.code for refused in one.refused] == ["quota"] * 3
    said = f"QuotaExceeded: 3 more of {SIZE} need 288 vCPUs, and of the 192 in the quota {FAMILY} 0 are used"
    assert one.refused[0].sentence == said
    assert "VirtualMachineScaleSets_Update" not in asked
    one = bed.look()
    assert (one.desired, one.unsent, bed.capacity()) == (0, False, 0)
    bed.region.groups[SET] = groups.cleared(one, [refused.id for refused in one.refused])
    bed.grow(2)
    bed.running(2)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [(409, "SkuNotAvailable", "capacity"), (409, "OverconstrainedAllocationRequest", "capacity")],
)
def test_what_azure_refuses_at_once_is_a_refusal_too(bed: Bed, status: int, code: str, kind: str) -> None:
    bed.azure.own("faults", [{"match": {"method": "PATCH", "type": KIND}, "status": status, "code": code}])
    bed.grow(1)
    assert [refused.kind.code for refused in bed.look().refused] == [kind]
    assert bed.look().desired == 0


def test_a_throttled_region_is_left_alone_for_as_long_as_azure_says(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = {"match": {"method": "PATCH", "type": KIND}, "status": 429, "code": "OperationNotAllowed", "times": 1}
    bed.azure.own("faults", [{**fault, "retry_after_seconds": 2, "message": "exceeding approved quota of calls"}])
    monkeypatch.setattr(module, "CHANGE_SECONDS", 4.0)
    sent, transport = list[Any](), bed.cloud.calls.client._client._pipeline._transport
    send = transport.send
    monkeypatch.setattr(transport, "send", lambda *given, **how: (sent.append(1), send(*given, **how))[1])
    with pytest.raises(
        CloudError, match=r"southcentralus: VirtualMachineScaleSets_Update: OperationNotAllowed: .*for 2 s"
    ):
        bed.grow(1)
    began = time.monotonic()
    assert len(sent) == 3, "the set, its quota and one attempt: the SDK tries nothing by itself"
    while time.monotonic() - began < 1.5:
        with pytest.raises(CloudError, match="Azure takes no call for another"):
            bed.region.look()
        time.sleep(0.2)
    assert len(sent) == 3
    eventually(lambda: time.monotonic() - began > 2.1)
    assert bed.look().target == 0, "no refusal: nothing is known of the capacity"
    bed.grow(1)
    bed.running(1)


def test_a_change_waits_for_the_one_before_it_and_for_azure_to_take_calls(bed: Bed) -> None:
    match = {"method": "PATCH", "type": KIND}
    busy = {"match": match, "status": 409, "code": "AnotherOperationInProgress", "times": 1, "retry_after_seconds": 1}
    throttled = {"match": match, "status": 429, "code": "TooManyRequests", "times": 1, "retry_after_seconds": 1}
    bed.azure.own("faults", [busy, throttled])
    began = time.monotonic()
    bed.grow(1)
    assert 2 <= time.monotonic() - began < 10
    assert bed.capacity() == 1
    bed.azure.own("faults", [{**busy, "times": 9, "retry_after_seconds": 60}])
    with pytest.raises(CloudError, match="AnotherOperationInProgress"):
        bed.grow(1)
    assert time.monotonic() - began < 15, "not longer than its caller waits"
    assert bed.region.groups[SET].target == 1


def test_only_the_machines_that_were_named_go_and_the_set_is_as_much_smaller(bed: Bed) -> None:
    bed.grow(4)
    machines = bed.running(4)
    bed.azure.own("pace", {"by_type": {KIND: 1}})
    assert bed.region.end(SET, [machines[1], machines[2]], ANYBODY) == {}
    assert bed.capacity() == 2
    assert [machine.state for machine in bed.look().machines].count("ending") == 2
    assert bed.running(2) == [machines[0], machines[3]]
    assert sorted(bed.instances()) == ["0", "3"]
    assert bed.look().target == 2


def test_machines_that_azure_does_not_let_go_stay(bed: Bed) -> None:
    bed.grow(2)
    machines = bed.running(2)
    refusal = {"status": 409, "code": "OperationNotAllowed", "message": "a lock keeps them"}
    bed.azure.own("faults", [{"match": {"method": "POST"}, **refusal}])
    problems = bed.region.end(SET, machines, ANYBODY)
    assert sorted(problems) == machines
    assert "a lock keeps them" in str(problems[machines[0]])
    assert bed.running(2) == machines


def test_what_has_not_come_is_given_up_and_what_has_come_is_not(bed: Bed) -> None:
    bed.grow(2)
    bed.running(2)
    with pytest.raises(CloudError, match=f"{SET} has 2 machines by now, and is not made smaller than that"):
        bed.cloud.resize(SET, 1)
    assert (bed.capacity(), len(bed.instances())) == (2, 2)
    bed.azure.own("quotas", {REGION: {FAMILY: 192}})
    bed.grow(3)
    assert bed.region.groups[SET].target == 5
    assert bed.region.shrink(SET, 9, ANYBODY) == 3
    assert (bed.look().target, bed.capacity()) == (2, 2)


def test_a_set_that_somebody_else_has_changed_is_seen(bed: Bed) -> None:
    bed.grow(1)
    bed.running(1)
    bed.sets.begin_update(bed.group, SET, {"sku": {"capacity": 3}}).result()
    assert bed.look().target == 3
    bed.running(3)
    bed.grow(1)
    assert bed.capacity() == 4, "more than there are, not more than there were"
    bed.running(4)
    bed.sets.begin_delete_instances(bed.group, SET, {"instanceIds": ["0"]}).result()
    assert [machine.id for machine in bed.look().machines] == [f"{SET}_{number}" for number in (1, 2, 3)]
    assert bed.region.groups[SET].target == 3


def test_an_evicted_spot_machine_is_gone_and_its_place_with_it(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.grow(2, SPOT)
    machines = bed.running(2, SPOT)
    monkeypatch.setattr(module, "REST_SECONDS", 0.0)
    bed.client.virtual_machine_scale_set_vms.simulate_eviction(bed.group, SPOT, "0")
    eventually(lambda: [machine.id for machine in bed.look(SPOT).live] == [machines[1]])
    eventually(lambda: bed.look(SPOT).target == 1 and bed.capacity(SPOT) == 1)
    eventually(lambda: sorted(bed.instances(SPOT)) == ["1"])


def test_spot_machines_count_in_their_own_quota(bed: Bed) -> None:
    bed.azure.own("quotas", {REGION: {"lowPriorityCores": 96, FAMILY: 0}})
    bed.grow(2, SPOT)
    assert [refused.kind.code for refused in bed.look(SPOT).refused] == ["quota"] * 2
    bed.look(SPOT)
    bed.region.groups[SPOT] = groups.cleared(bed.region.groups[SPOT], [one.id for one in bed.look(SPOT).refused])
    bed.grow(1, SPOT)
    bed.running(1, SPOT)


def test_a_size_whose_answer_was_lost_is_asked_after(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    update = bed.cloud.sets.begin_update

    def lost(*given: Any, **how: Any) -> Any:
        update(*given, **how)
        raise ServiceResponseError("closed")

    monkeypatch.setattr(bed.cloud.sets, "begin_update", lost)
    bed.azure.own("capacity", [{"location": REGION, "most": 1, "leaves_failed": True}])
    bed.grow(2)
    assert bed.region.groups[SET].target == 2, "Azure had heard"
    monkeypatch.setattr(bed.cloud.sets, "begin_update", update)
    eventually(lambda: bed.look().refused)
    assert [refused.kind.code for refused in bed.region.groups[SET].refused] == ["capacity"]


def test_a_region_that_is_not_to_be_reached_says_so(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    client = ComputeManagementClient(bed.azure.credential(), SUBSCRIPTION, base_url="https://127.0.0.1:9")
    away = Azure(REGION, "main", Place(SUBSCRIPTION, bed.group), client)
    began = time.monotonic()
    with pytest.raises(CloudError, match="southcentralus: VirtualMachineScaleSets_List: "):
        away.groups()
    assert time.monotonic() - began < 5
    wrong = ComputeManagementClient(
        bed.azure.credential(secret="not-it"),
        SUBSCRIPTION,
        transport=bed.azure.transport(),
    )
    with pytest.raises(CloudError, match="southcentralus: VirtualMachineScaleSets_List: "):
        Azure(REGION, "main", Place(SUBSCRIPTION, bed.group), wrong).groups()


class Asker:
    """As gRPC tells of whoever calls."""

    def time_remaining(self) -> None:
        return None

    def is_active(self) -> bool:
        return True


def test_the_autoscaler_is_told_of_instances_by_their_state_and_of_refusals_as_errors(bed: Bed) -> None:
    settings = Settings.model_validate(
        {
            "cluster": "main",
            "region_clouds": {REGION: "azure"},
            "azure": {"subscription_id": SUBSCRIPTION, "resource_groups": {REGION: bed.group}},
            "groups": [told(SET), told(SPOT)],
        }
    )
    scaling = Scaling(settings, cloud=lambda *_: bed.cloud)
    service = Service(scaling)

    def nodes() -> list[tuple[int, str, int]]:
        scaling.regions[REGION].look()
        found = service.NodeGroupNodes(messages.GroupRequest(id=SET), None).instances
        return [
            (one.status.instanceState, one.status.errorInfo.errorCode, one.status.errorInfo.instanceErrorClass)
            for one in found
        ]

    running, creating, deleting = 1, 2, 3
    service.Refresh(None, None)
    assert [one.id for one in service.NodeGroups(None, None).nodeGroups] == [SET, SPOT]
    bed.azure.own("pace", {"by_type": {KIND: 1}})
    bed.azure.own("capacity", [{"location": REGION, "most": 1}])
    service.NodeGroupIncreaseSize(messages.ChangeRequest(id=SET, delta=3), Asker())
    assert nodes() == [(creating, "", 0)] * 3
    eventually(lambda: sorted(nodes()) == [(running, "", 0), (creating, "capacity", 1), (creating, "capacity", 1)])
    assert service.NodeGroupTargetSize(messages.GroupRequest(id=SET), None).targetSize == 3
    machine, *placeholders = (messages.AskedNode(providerID=one.id) for one in service.machines[SET][1].instances)
    assert machine.providerID.startswith(f"azure:///subscriptions/{SUBSCRIPTION}/resourceGroups/{bed.group}/providers/")
    asked = messages.NodeGroupForNodeRequest(node=machine)
    assert service.NodeGroupForNode(asked, None).nodeGroup.id == SET
    service.NodeGroupDeleteNodes(messages.DeleteNodesRequest(id=SET, nodes=placeholders), Asker())
    assert nodes() == [(running, "", 0)]
    service.NodeGroupDeleteNodes(messages.DeleteNodesRequest(id=SET, nodes=[machine]), Asker())
    assert (nodes(), bed.capacity()) == ([(deleting, "", 0)], 0)
    eventually(lambda: nodes() == [])

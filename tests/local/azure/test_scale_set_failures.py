"""Scale sets that get less than they ask for: hardware, quotas, evictions, refusals, writes that cross each other."""

from collections import Counter
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError

from .machines import LOCATION, SET, SIZE, Pools, scale_set

GPU = "Standard_ND96isr_H100_v5"


def test_some_come_and_some_do_not_where_hardware_is_short(pools: Pools) -> None:
    pools.azure.own("capacity", [{"location": LOCATION, "size": SIZE, "most": 2}])
    with pytest.raises(HttpResponseError, match="AllocationFailed") as failed:
        pools.put(4)
    assert "sufficient capacity" in str(failed.value)
    found = pools.sets.get(pools.group, "pool")
    assert (found.provisioning_state, len(pools.ids())) == ("Failed", 2)
    pools.azure.own("capacity", [])
    assert pools.resize(4).provisioning_state == "Succeeded"
    assert len(pools.ids()) == 4


def test_instances_without_hardware_stay_as_failed_ones_when_asked_for(pools: Pools) -> None:
    pools.azure.own("capacity", [{"size": SIZE, "most": 1, "code": "SkuNotAvailable", "leaves_failed": True}])
    with pytest.raises(HttpResponseError, match="SkuNotAvailable"):
        pools.put(2)
    found = pools.instances()
    assert [one.provisioning_state for one in found] == ["Succeeded", "Failed"]
    assert [status.code for status in found[1].instance_view.statuses] == ["ProvisioningState/failed/SkuNotAvailable"]
    summary = pools.sets.get_instance_view(pools.group, "pool").virtual_machine.statuses_summary
    assert {one.code: one.count for one in summary} == {
        "ProvisioningState/succeeded": 1,
        "ProvisioningState/failed/SkuNotAvailable": 1,
    }
    pools.delete("1")
    assert pools.sets.get(pools.group, "pool").sku.capacity == 1


def test_a_zone_without_hardware_is_left_out_unless_zones_must_be_even(pools: Pools) -> None:
    pools.azure.own("capacity", [{"zone": "2", "most": 0}])
    pools.put(3)
    assert Counter(one.zones[0] for one in pools.instances()) in ({"1": 2, "3": 1}, {"1": 1, "3": 2})
    pools.sets.begin_delete(pools.group, "pool").result()
    body = scale_set(pools.subnet, 3)
    body["properties"]["zoneBalance"] = True
    with pytest.raises(HttpResponseError, match="ZonalAllocationFailed"):
        pools.put_body(body)


def test_a_quota_refuses_at_once_and_usages_tell_why(pools: Pools) -> None:
    family = "standardNDSH100v5Family"
    pools.azure.own("quotas", {LOCATION: {family: 192}})
    pools.put(2, size=GPU)
    with pytest.raises(ResourceExistsError, match="Current Limit: 192, Current Usage: 192, Additional Required: 96"):
        pools.resize(3)
    assert pools.sets.get(pools.group, "pool").sku.capacity == 2
    used = {one.name.value: one for one in pools.client.usage.list(LOCATION)}
    assert (used[family].current_value, used[family].limit) == (192, 192)
    assert used["cores"].current_value >= 192
    assert used["lowPriorityCores"].current_value == 0


def test_spot_machines_count_apart(pools: Pools) -> None:
    pools.azure.own("quotas", {LOCATION: {"lowPriorityCores": 96, "standardNDSH100v5Family": 0}})
    spot = {"priority": "Spot", "evictionPolicy": "Delete", "billingProfile": {"maxPrice": -1}}
    pools.put(1, size=GPU, **spot)
    with pytest.raises(ResourceExistsError, match="exceeding approved LowPriorityCores quota"):
        pools.resize(2)


@pytest.mark.parametrize(("policy", "left"), [("Delete", []), ("Deallocate", ["PowerState/deallocated"])])
def test_an_eviction_does_as_the_policy_says(pools: Pools, policy: str, left: list[str]) -> None:
    pools.put(1, priority="Spot", evictionPolicy=policy)
    pools.azure.own("evict", {"id": f"{pools.path}/virtualMachines/0"}, "POST")
    assert [one.instance_view.statuses[-1].code for one in pools.instances()] == left
    assert pools.sets.get(pools.group, "pool").sku.capacity == len(left)


def test_a_newer_write_ends_an_older_one(pools: Pools) -> None:
    pools.put(0)
    pools.azure.own("pace", {"seconds": 30})
    older = pools.sets.begin_update(pools.group, "pool", {"sku": {"capacity": 1}})
    newer = pools.sets.begin_update(pools.group, "pool", {"sku": {"capacity": 3}})
    with pytest.raises(HttpResponseError, match="preempted by a more recent operation"):
        older.result()
    pools.azure.own("finish", {}, "POST")
    newer.result()
    assert len(pools.ids()) == 3


def test_a_delete_waits_for_no_growth(pools: Pools) -> None:
    pools.put(2)
    pools.azure.own("pace", {"seconds": 30})
    growing = pools.sets.begin_update(pools.group, "pool", {"sku": {"capacity": 4}})
    deleting = pools.sets.begin_delete_instances(pools.group, "pool", {"instanceIds": ["0"]})
    pools.azure.own("finish", {}, "POST")
    growing.result()
    deleting.result()
    assert pools.ids() == ["1", "2", "3"]
    assert pools.sets.get(pools.group, "pool").sku.capacity == 3


def test_a_delete_that_fails_leaves_the_instance(pools: Pools) -> None:
    pools.put(2)
    fault = {"match": {"method": "POST", "type": SET}, "status": 500, "code": "InternalExecutionError", "late": True}
    pools.azure.own("faults", [fault])
    with pytest.raises(HttpResponseError, match="InternalExecutionError"):
        pools.delete("1")
    assert [one.provisioning_state for one in pools.instances()] == ["Succeeded", "Failed"]
    assert pools.sets.get(pools.group, "pool").sku.capacity == 2


def test_a_planned_failure_of_growth_makes_no_instances(pools: Pools) -> None:
    pools.put(1)
    fault = {"match": {"method": "PATCH"}, "status": 409, "code": "OverconstrainedAllocationRequest", "late": True}
    pools.azure.own("faults", [fault])
    with pytest.raises(HttpResponseError, match="OverconstrainedAllocationRequest"):
        pools.resize(3)
    assert pools.ids() == ["0"]
    assert pools.sets.get(pools.group, "pool").provisioning_state == "Failed"


def test_skus_tell_what_a_size_has(pools: Pools) -> None:
    found = {one.name: one for one in pools.client.resource_skus.list(filter=f"location eq '{LOCATION}'")}
    told = {one.name: one.value for one in found[GPU].capabilities}
    assert (told["vCPUs"], told["GPUs"], told["MemoryGB"]) == ("96", "8", "1900")
    assert found[GPU].location_info[0].zones == ["1", "2", "3"]
    assert found[GPU].family == "standardNDSH100v5Family"


def _without_overprovision(body: dict[str, Any]) -> None:
    del body["properties"]["overprovision"]


def _profile(**told: Any) -> Any:
    return lambda body: body["properties"]["virtualMachineProfile"].update(told)


def _os(**told: Any) -> Any:
    return lambda body: body["properties"]["virtualMachineProfile"]["osProfile"].update(told)


REFUSED = {
    "a size that is not there": (lambda body: body["sku"].update(name="Standard_Z1"), "VM size is not valid"),
    "a zone that is not there": (lambda body: body.update(zones=["4"]), "InvalidAvailabilityZone"),
    "custom data that is no base64": (_os(customData="#cloud"), "Custom data in OSProfile must be in Base64"),
    "custom data that is too long": (_os(customData="A" * 87_384), "maximum length of 87380"),
    "no way in": (_os(linuxConfiguration={}), "osProfile.adminPassword"),
    "a spot price for what is not spot": (_profile(billingProfile={"maxPrice": 1}), "only on Azure Spot"),
    "an image that is not there": (
        _profile(storageProfile={"imageReference": {"publisher": "nobody", "offer": "none", "sku": "x"}}),
        "PlatformImageNotFound",
    ),
    "overprovisioning": (_without_overprovision, "set overprovision to false"),
    "too many for one placement group": (
        lambda body: body["properties"].update(singlePlacementGroup=True) or body["sku"].update(capacity=101),
        "0 to 100 instances",
    ),
    "repairs that nobody makes": (
        lambda body: body["properties"].update(automaticRepairsPolicy={"enabled": True}),
        "does not do what automaticRepairsPolicy",
    ),
    "an identity that is not there": (
        lambda body: body.update(
            identity={
                "type": "UserAssigned",
                "userAssignedIdentities": {
                    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/x": {}
                },
            }
        ),
        "FailedIdentityOperation",
    ),
}


def test_a_refusal_names_what_is_not_done_and_tells_no_secret_of_it(pools: Pools) -> None:
    extension = {"name": "one", "properties": {"protectedSettings": {"password": "open-sesame"}}}
    answer = pools.azure.put(pools.path, scale_set(pools.subnet, extensionProfile={"extensions": [extension]}))
    assert answer.status_code == 400
    assert "does not do what extensionProfile asks for" in answer.text
    assert "open-sesame" not in answer.text


def test_what_azure_refuses_is_refused(pools: Pools) -> None:
    for case, (change, said) in REFUSED.items():
        body = scale_set(pools.subnet)
        change(body)
        with pytest.raises(HttpResponseError) as refused:
            pools.put_body(body)
        assert said in str(refused.value), case
    assert not list(pools.sets.list(pools.group))

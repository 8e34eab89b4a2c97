"""Scale sets of the local Azure and their instances, asked by Azure's own client."""

import base64
from collections import Counter

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.mgmt.compute.models import (
    VirtualMachineScaleSet,
    VirtualMachineScaleSetInstanceView,
    VirtualMachineScaleSetVM,
)
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.network.models import NetworkInterface

from .machines import CUSTOM_DATA, LOCATION, SET, SIZE, Pools, scale_set
from .support import assert_model


def test_a_set_makes_its_instances_and_takes_them_along(pools: Pools) -> None:
    made = pools.put(3)
    assert (made.provisioning_state, made.sku.capacity, made.sku.tier) == ("Succeeded", 3, "Standard")
    found = pools.instances()
    assert [(one.name, one.instance_id, one.zones) for one in found] == [
        ("pool_0", "0", ["1"]),
        ("pool_1", "1", ["2"]),
        ("pool_2", "2", ["3"]),
    ]
    assert [status.code for status in found[0].instance_view.statuses] == [
        "ProvisioningState/succeeded",
        "PowerState/running",
    ]
    assert found[0].os_profile.computer_name == "pool-000000"
    assert len({one.vm_id for one in found}) == 3
    pools.sets.begin_delete(pools.group, "pool").result()
    assert SET not in str(pools.azure.own("inventory"))
    with pytest.raises(ResourceNotFoundError):
        pools.sets.get(pools.group, "pool")


def test_instances_are_created_before_they_run(pools: Pools) -> None:
    pools.azure.own("pace", {"seconds": 30})
    poller = pools.sets.begin_create_or_update(pools.group, "pool", VirtualMachineScaleSet(scale_set(pools.subnet, 1)))
    (one,) = pools.instances()
    assert one.provisioning_state == "Creating"
    assert [status.code for status in one.instance_view.statuses] == ["ProvisioningState/creating"]
    pools.azure.own("finish", {}, "POST")
    poller.result()
    assert [one.provisioning_state for one in pools.instances()] == ["Succeeded"]


def test_answers_are_what_azures_models_say(pools: Pools) -> None:
    pools.put(1, priority="Spot", evictionPolicy="Delete", billingProfile={"maxPrice": -1})
    assert_model(VirtualMachineScaleSet, pools.azure.ask("GET", pools.path).json())
    path = f"{pools.path}/virtualMachines/0"
    assert_model(VirtualMachineScaleSetVM, pools.azure.ask("GET", f"{path}?$expand=instanceView").json())
    assert_model(NetworkInterface, pools.azure.ask("GET", f"{path}/networkInterfaces/main").json())
    assert_model(VirtualMachineScaleSetInstanceView, pools.azure.ask("GET", f"{pools.path}/instanceView").json())


def test_what_is_secret_is_told_to_nobody_and_kept(pools: Pools) -> None:
    pools.put(1)
    pools.resize(2)
    assert CUSTOM_DATA not in pools.azure.ask("GET", pools.path).text
    assert CUSTOM_DATA not in pools.azure.ask("GET", f"{pools.path}/virtualMachines/1").text
    assert [one["custom_data"] for one in pools.azure.own("machines") if pools.group in one["id"]] == [CUSTOM_DATA] * 2


def test_interfaces_have_addresses_of_the_subnet(pools: Pools) -> None:
    pools.put(2)
    network = pools.azure.client(NetworkManagementClient)
    nics = list(network.network_interfaces.list_virtual_machine_scale_set_network_interfaces(pools.group, "pool"))
    assert [nic.ip_configurations[0].private_ip_address for nic in nics] == ["10.1.1.4", "10.1.1.5"]
    (nic,) = network.network_interfaces.list_virtual_machine_scale_set_vm_network_interfaces(pools.group, "pool", "1")
    assert (nic.name, nic.primary) == ("main", True)
    assert nic.virtual_machine.id.endswith("/virtualMachines/1")
    told = network.network_interfaces.get_virtual_machine_scale_set_network_interface(pools.group, "pool", "1", "main")
    assert told.id == nic.id == pools.instances()[1].network_profile.network_interfaces[0].id


def test_an_address_is_given_again_only_when_its_machine_is_gone(pools: Pools) -> None:
    pools.put(2)
    pools.delete("0")
    pools.resize(3)
    held = [one["addresses"][0]["address"] for one in pools.azure.own("machines") if pools.group in one["id"]]
    assert sorted(held) == ["10.1.1.4", "10.1.1.5", "10.1.1.6"]


def test_a_subnet_that_is_full_takes_no_more(pools: Pools) -> None:
    with pytest.raises(HttpResponseError, match="SubnetIsFull"):
        pools.put_body(scale_set(pools.subnet.replace("private-1", "small"), 4))


def test_instances_that_are_deleted_lower_the_capacity_and_their_numbers_do_not_come_again(pools: Pools) -> None:
    pools.put(3)
    pools.delete("1", "2")
    assert pools.sets.get(pools.group, "pool").sku.capacity == 1
    pools.resize(3)
    assert pools.ids() == ["0", "3", "4"]


def test_an_instance_that_is_not_there_is_not_deleted(pools: Pools) -> None:
    pools.put(1)
    with pytest.raises(HttpResponseError, match="The provided instanceId 7 is not an active"):
        pools.delete("0", "7")
    assert pools.ids() == ["0"]


def test_an_instance_is_deleted_by_itself_once(pools: Pools) -> None:
    pools.put(2)
    pools.azure.own("pace", {"seconds": 30})
    first = pools.machines.begin_delete(pools.group, "pool", "0")
    second = pools.machines.begin_delete(pools.group, "pool", "0")
    assert [one.provisioning_state for one in pools.instances()] == ["Deleting", "Succeeded"]
    pools.azure.own("finish", {}, "POST")
    first.result()
    second.result()
    assert pools.ids() == ["1"]
    assert pools.sets.get(pools.group, "pool").sku.capacity == 1


def test_a_smaller_capacity_spares_protected_instances(pools: Pools) -> None:
    pools.put(3, zones=())
    body = {"properties": {"protectionPolicy": {"protectFromScaleIn": True}}}
    kept = pools.machines.begin_update(pools.group, "pool", "2", body).result()
    assert kept.protection_policy.protect_from_scale_in
    pools.resize(1)
    assert pools.ids() == ["2"]
    with pytest.raises(HttpResponseError, match="protected from scale-in"):
        pools.resize(0)


def test_a_smaller_capacity_keeps_zones_even(pools: Pools) -> None:
    pools.put(4)
    pools.resize(3)
    assert pools.ids() == ["0", "1", "2"]
    pools.delete("1")
    pools.resize(3)
    assert Counter(one.zones[0] for one in pools.instances()) == {"1": 1, "2": 1, "3": 1}


def test_the_oldest_go_first_where_the_set_says_so(pools: Pools) -> None:
    body = scale_set(pools.subnet, 3, zones=())
    body["properties"]["scaleInPolicy"] = {"rules": ["OldestVM"]}
    pools.put_body(body)
    pools.resize(2)
    assert pools.ids() == ["1", "2"]


def test_lists_come_in_pages(pools: Pools) -> None:
    pools.put(130)
    first = pools.azure.ask("GET", f"{pools.path}/virtualMachines").json()
    assert len(first["value"]) == 100
    assert "skiptoken" in first["nextLink"]
    assert pools.ids() == [str(n) for n in range(130)]


def test_power_follows_what_is_asked(pools: Pools) -> None:
    pools.put(2)
    pools.sets.begin_deallocate(pools.group, "pool", {"instanceIds": ["1"]}).result()
    pools.machines.begin_power_off(pools.group, "pool", "0").result()
    told = [one.instance_view.statuses[-1].code for one in pools.instances()]
    assert told == ["PowerState/stopped", "PowerState/deallocated"]
    pools.azure.own("capacity", [{"size": SIZE, "most": 1}])
    with pytest.raises(HttpResponseError, match="AllocationFailed"):
        pools.machines.begin_start(pools.group, "pool", "1").result()
    pools.machines.begin_start(pools.group, "pool", "0").result()
    assert pools.machines.get_instance_view(pools.group, "pool", "0").statuses[-1].code == "PowerState/running"


def test_whoever_keeps_machines_tells_their_power(pools: Pools) -> None:
    pools.put(1)
    pools.azure.own("power", {f"{pools.path}/virtualMachines/0": "stopped"})
    assert pools.instances()[0].instance_view.statuses[-1].code == "PowerState/stopped"


def test_a_new_model_is_for_new_instances_until_old_ones_are_brought_to_it(pools: Pools) -> None:
    pools.put(1)
    body = scale_set(pools.subnet, 2)
    newer = base64.b64encode(b"newer").decode()
    body["properties"]["virtualMachineProfile"]["osProfile"]["customData"] = newer
    pools.put_body(body)
    assert [one.latest_model_applied for one in pools.instances()] == [False, True]
    pools.sets.begin_update_instances(pools.group, "pool", {"instanceIds": ["0"]}).result()
    assert [one.latest_model_applied for one in pools.instances()] == [True, True]
    assert {one["custom_data"] for one in pools.azure.own("machines") if pools.group in one["id"]} == {newer}


def test_a_subnet_that_is_not_there_is_refused(pools: Pools) -> None:
    with pytest.raises(HttpResponseError, match="InvalidResourceReference"):
        pools.put_body(scale_set(f"{pools.subnet}-other"))


def test_a_subnet_in_use_stays(pools: Pools) -> None:
    pools.put(0)
    assert pools.azure.ask("DELETE", pools.subnet).json()["error"]["code"] == "InUseSubnetCannotBeDeleted"


def test_nobody_makes_an_instance_by_hand(pools: Pools) -> None:
    pools.put(0)
    answer = pools.azure.put(f"{pools.path}/virtualMachines/5", {"location": LOCATION, "properties": {}})
    assert answer.status_code == 400
    assert pools.ids() == []

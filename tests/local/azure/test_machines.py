"""Machines of the local Azure that stand alone, asked by Azure's own client."""

from collections.abc import Iterator
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute.models import Disk, VirtualMachine

from .machines import CUSTOM_DATA, LOCATION, SIZE, interface, machine, subnet
from .support import LocalAzure, assert_model
from .test_disks import disk

TYPE = "Microsoft.Compute/virtualMachines"


class Machines:
    """One test's client, group, subnet and interface."""

    def __init__(self, azure: LocalAzure, compute: Any, place: str) -> None:
        self.azure, self.compute, self.place, self.group = azure, compute, place, place.rpartition("/")[2]
        self.subnet = subnet(azure, place)
        self.nic = interface(azure, self.subnet)
        self.path = f"{place}/providers/{TYPE}/planes-0"

    def put(self, body: dict[str, Any], name: str = "planes-0") -> Any:
        return self.compute.virtual_machines.begin_create_or_update(self.group, name, VirtualMachine(body)).result()

    def get(self, name: str = "planes-0", **more: Any) -> Any:
        return self.compute.virtual_machines.get(self.group, name, **more)

    def delete(self) -> None:
        self.compute.virtual_machines.begin_delete(self.group, "planes-0").result()

    def disk(self, name: str = "etcd", **more: Any) -> Any:
        return self.compute.disks.begin_create_or_update(self.group, name, Disk(disk(**more))).result()

    def attached(self, id_: str, lun: int = 0, **more: Any) -> dict[str, Any]:
        return {"lun": lun, "createOption": "Attach", "managedDisk": {"id": id_}, **more}

    def state(self, name: str = "etcd") -> tuple[str, str | None]:
        found = self.compute.disks.get(self.group, name)
        return found.disk_state, (found.managed_by or "").rpartition("/")[2]

    def power(self) -> str:
        view = self.compute.virtual_machines.instance_view(self.group, "planes-0")
        return str(view.statuses[-1].code)


@pytest.fixture
def machines(azure: LocalAzure, compute: Any, place: str) -> Iterator[Machines]:
    machines = Machines(azure, compute, place)
    yield machines
    azure.own("capacity", [])
    azure.own("quotas", {})
    azure.ask("DELETE", place)


def test_a_machine_runs_with_its_disks_and_leaves_what_is_to_stay(machines: Machines) -> None:
    kept = machines.disk()
    made = machines.put(machine(machines.nic, machines.attached(kept.id, caching="ReadOnly")))
    assert (made.provisioning_state, made.zones, made.os_profile.computer_name) == ("Succeeded", ["1"], "planes-0")
    assert made.storage_profile.image_reference.exact_version
    assert machines.power() == "PowerState/running"
    assert machines.state() == ("Attached", "planes-0")
    assert machines.state(made.storage_profile.os_disk.name) == ("Attached", "planes-0")
    told = machines.azure.ask("GET", f"{machines.path}?$expand=instanceView")
    body = told.json()
    assert body["properties"]["hardwareProfile"].pop("vmSize") == SIZE  # the model's enum knows old sizes alone
    assert_model(VirtualMachine, body)
    assert CUSTOM_DATA not in told.text
    machines.delete()
    assert machines.state() == ("Unattached", "")
    assert [one.name for one in machines.compute.disks.list_by_resource_group(machines.group)] == ["etcd"]
    assert machines.azure.ask("GET", machines.nic).status_code == 200


def test_whoever_keeps_machines_knows_all_that_they_start_from(machines: Machines) -> None:
    identity = f"{machines.place}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/planes"
    assert machines.azure.put(identity, {"location": LOCATION}).status_code == 201
    body = machine(machines.nic) | {"tags": {"role": "planes"}}
    body["identity"] = {"type": "UserAssigned", "userAssignedIdentities": {identity: {}}}
    machines.put(body)
    (told,) = (one for one in machines.azure.own("machines") if one["id"] == machines.path)
    assert told["addresses"] == [{"address": "10.1.1.4", "subnet": machines.subnet, "interface": machines.nic}]
    assert (told["custom_data"], told["identities"], told["tags"]) == (CUSTOM_DATA, [identity], {"role": "planes"})
    assert (told["location"], told["zone"], told["size"], told["power"]) == (LOCATION, "1", SIZE, "running")


def test_disks_come_and_go_while_it_runs(machines: Machines) -> None:
    kept, other = machines.disk(), machines.disk("other")
    machines.put(machine(machines.nic))
    machines.put(machine(machines.nic, machines.attached(kept.id), machines.attached(other.id, 1)))
    assert machines.state("other") == ("Attached", "planes-0")
    machines.put(machine(machines.nic, machines.attached(kept.id)))
    assert (machines.state(), machines.state("other")) == (("Attached", "planes-0"), ("Unattached", ""))
    change = {"properties": {"storageProfile": {"dataDisks": []}}}
    machines.compute.virtual_machines.begin_update(machines.group, "planes-0", change).result()
    assert machines.state() == ("Unattached", "")


def test_a_disk_that_a_machine_has_is_nobody_elses(machines: Machines) -> None:
    kept = machines.disk()
    machines.put(machine(machines.nic, machines.attached(kept.id)))
    with pytest.raises(HttpResponseError, match="is attached to VM"):
        machines.compute.disks.begin_delete(machines.group, "etcd").result()
    second = interface(machines.azure, machines.subnet, "second")
    with pytest.raises(HttpResponseError, match="already owned by VM"):
        machines.put(machine(second, machines.attached(kept.id)), "planes-1")
    with pytest.raises(HttpResponseError, match="NicInUse"):
        machines.put(machine(machines.nic), "planes-1")
    assert machines.compute.disks.get(machines.group, "etcd").managed_by == machines.path


def test_a_disk_of_its_machine_may_grow(machines: Machines) -> None:
    kept = machines.disk()
    made = machines.put(machine(machines.nic, machines.attached(kept.id)))
    assert machines.disk(size_gib=128).managed_by == made.id
    grow = {"properties": {"diskSizeGB": 256}}
    with pytest.raises(HttpResponseError, match="OS disk of running VM"):
        machines.compute.disks.begin_update(machines.group, made.storage_profile.os_disk.name, grow).result()


def test_empty_disks_are_made_with_it(machines: Machines) -> None:
    empty = {"lun": 3, "createOption": "Empty", "diskSizeGB": 32, "deleteOption": "Delete", "name": "scratch"}
    machines.put(machine(machines.nic, empty))
    assert machines.compute.disks.get(machines.group, "scratch").zones == ["1"]
    again = machines.put(machine(machines.nic, empty))
    assert [one.managed_disk.id.rpartition("/")[2] for one in again.storage_profile.data_disks] == ["scratch"]
    machines.delete()
    assert not list(machines.compute.disks.list_by_resource_group(machines.group))


def test_power_follows_what_is_asked(machines: Machines) -> None:
    kept = machines.disk()
    machines.put(machine(machines.nic, machines.attached(kept.id)))
    calls = machines.compute.virtual_machines
    calls.begin_power_off(machines.group, "planes-0").result()
    assert machines.power() == "PowerState/stopped"
    calls.begin_deallocate(machines.group, "planes-0").result()
    assert (machines.power(), machines.state()[0]) == ("PowerState/deallocated", "Reserved")
    calls.begin_start(machines.group, "planes-0").result()
    calls.begin_restart(machines.group, "planes-0").result()
    assert machines.power() == "PowerState/running"


def test_a_machine_without_hardware_is_a_failed_one_that_can_be_tried_again(machines: Machines) -> None:
    machines.azure.own("capacity", [{"zone": "1", "size": SIZE, "most": 0}])
    with pytest.raises(HttpResponseError, match="ZonalAllocationFailed"):
        machines.put(machine(machines.nic))
    assert machines.get().provisioning_state == "Failed"
    machines.azure.own("capacity", [])
    assert machines.put(machine(machines.nic)).provisioning_state == "Succeeded"


def test_a_quota_refuses_at_once(machines: Machines) -> None:
    machines.azure.own("quotas", {LOCATION: {"cores": 1}})
    with pytest.raises(HttpResponseError, match="exceeding approved Total Regional Cores quota"):
        machines.put(machine(machines.nic))
    assert not list(machines.compute.virtual_machines.list(machines.group))


def test_custom_data_is_said_once(machines: Machines) -> None:
    machines.put(machine(machines.nic))
    silent = machine(machines.nic)
    del silent["properties"]["osProfile"]["customData"]
    machines.put(silent)
    (told,) = (one for one in machines.azure.own("machines") if one["id"] == machines.path)
    assert told["custom_data"] == CUSTOM_DATA
    other = machine(machines.nic)
    other["properties"]["osProfile"]["customData"] = "b3RoZXI="
    with pytest.raises(HttpResponseError, match=r"osProfile\.customData' is not allowed"):
        machines.put(other)


def test_what_azure_refuses_is_refused(machines: Machines) -> None:
    elsewhere = machines.disk("elsewhere", zone="2")
    slow = machines.disk("fast", sku="PremiumV2_LRS")
    no_size = machine(machines.nic, hardwareProfile={"vmSize": "Standard_Z1"})
    twice = [machines.attached(slow.id, 1), {"lun": 1, "createOption": "Empty", "diskSizeGB": 1}]
    cases = (
        (no_size, "VM size is not valid"),
        (machine(machines.nic, zone="9"), "InvalidAvailabilityZone"),
        (machine(machines.nic, machines.attached(elsewhere.id)), "it is in zone '2'"),
        (machine(machines.nic, machines.attached(slow.id, caching="ReadOnly")), "takes no host caching"),
        (machine(machines.nic, machines.attached(f"{slow.id}-x")), "InvalidResourceReference"),
        (machine(machines.nic, *twice), "LUN 1"),
        (machine(f"{machines.nic}-x"), "InvalidResourceReference"),
        (machine(machines.nic, networkProfile={}), "networkInterfaces"),
        (machine(machines.nic, extensionsTimeBudget="PT1H", host={"id": "x"}), "does not do what host"),
    )
    for body, said in cases:
        with pytest.raises(HttpResponseError) as refused:
            machines.put(body)
        assert said in str(refused.value)
    assert [one.name for one in machines.compute.disks.list_by_resource_group(machines.group)] == ["elsewhere", "fast"]


@pytest.mark.parametrize(("policy", "left"), [("Delete", []), ("Deallocate", ["planes-0"])])
def test_an_eviction_does_as_the_policy_says(machines: Machines, policy: str, left: list[str]) -> None:
    machines.put(machine(machines.nic, priority="Spot", evictionPolicy=policy))
    machines.compute.virtual_machines.simulate_eviction(machines.group, "planes-0")
    assert [one.name for one in machines.compute.virtual_machines.list(machines.group)] == left


def test_a_group_goes_with_machines_and_disks(machines: Machines) -> None:
    machines.put(machine(machines.nic, machines.attached(machines.disk().id)))
    assert machines.azure.ask("DELETE", machines.place).status_code == 202
    assert machines.group not in str(machines.azure.own("inventory"))

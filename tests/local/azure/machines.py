"""What tests of machines start from: a network, and the body of a scale set or of a machine."""

import base64
from typing import Any

from azure.mgmt.compute.models import VirtualMachineScaleSet

from .support import SUBSCRIPTION, LocalAzure

LOCATION = "southcentralus"
SIZE = "Standard_D2s_v5"
SET = "Microsoft.Compute/virtualMachineScaleSets"
MARKET = {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaMDEyMzQ1 nobody"
CUSTOM_DATA = base64.b64encode(b"#!/bin/sh\necho started").decode()


def subnet(azure: LocalAzure, place: str) -> str:
    """The id of one, 10.1.1.0/24, in a network of its own, that has another, 10.1.9.0/29, too."""
    network = f"{place}/providers/Microsoft.Network/virtualNetworks/network"
    prefixes = {"private-1": "10.1.1.0/24", "small": "10.1.9.0/29"}
    subnets = [{"name": name, "properties": {"addressPrefix": prefix}} for name, prefix in prefixes.items()]
    properties = {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}, "subnets": subnets}
    made = azure.put(network, {"location": LOCATION, "properties": properties})
    assert made.status_code == 201, made.text
    return f"{network}/subnets/private-1"


def os_profile() -> dict[str, Any]:
    keys = [{"path": "/home/nobody/.ssh/authorized_keys", "keyData": KEY}]
    linux = {"disablePasswordAuthentication": True, "ssh": {"publicKeys": keys}}
    return {"adminUsername": "nobody", "customData": CUSTOM_DATA, "linuxConfiguration": linux}


def scale_set(
    subnet_id: str, capacity: int = 2, *, size: str = SIZE, zones: tuple[str, ...] = ("1", "2", "3"), **more: Any
) -> dict[str, Any]:
    """A body to PUT. `more` are properties of the machines' profile."""
    address = {"name": "primary", "properties": {"subnet": {"id": subnet_id}, "primary": True}}
    nic = {"name": "main", "properties": {"primary": True, "ipConfigurations": [address]}}
    return {
        "location": LOCATION,
        "zones": list(zones),
        "sku": {"name": size, "capacity": capacity},
        "tags": {"pool": "gpu"},
        "properties": {
            "orchestrationMode": "Uniform",
            "overprovision": False,
            "singlePlacementGroup": False,
            "upgradePolicy": {"mode": "Manual"},
            "virtualMachineProfile": {
                "osProfile": {**os_profile(), "computerNamePrefix": "pool-"},
                "storageProfile": {
                    "imageReference": MARKET,
                    "osDisk": {"createOption": "FromImage", "managedDisk": {"storageAccountType": "Premium_LRS"}},
                },
                "networkProfile": {"networkInterfaceConfigurations": [nic]},
                **more,
            },
        },
    }


def interface(azure: LocalAzure, subnet_id: str, name: str = "nic") -> str:
    """The id of a network interface in a subnet."""
    path = f"{subnet_id.partition('/providers/')[0]}/providers/Microsoft.Network/networkInterfaces/{name}"
    configuration = {"name": "primary", "properties": {"subnet": {"id": subnet_id}}}
    made = azure.put(path, {"location": LOCATION, "properties": {"ipConfigurations": [configuration]}})
    assert made.status_code == 201, made.text
    return path


def machine(interface_id: str, *disks: dict[str, Any], zone: str = "1", **more: Any) -> dict[str, Any]:
    """A body to PUT. `more` are properties."""
    os_disk = {
        "createOption": "FromImage",
        "managedDisk": {"storageAccountType": "Premium_LRS"},
        "deleteOption": "Delete",
    }
    return {
        "location": LOCATION,
        "zones": [zone],
        "properties": {
            "hardwareProfile": {"vmSize": SIZE},
            "osProfile": os_profile(),
            "storageProfile": {"imageReference": MARKET, "osDisk": os_disk, "dataDisks": list(disks)},
            "networkProfile": {"networkInterfaces": [{"id": interface_id}]},
            **more,
        },
    }


class Pools:
    """One test's client, group and subnet."""

    def __init__(self, azure: LocalAzure, client: Any, group: str) -> None:
        self.azure, self.client, self.group = azure, client, group
        self.sets, self.machines = client.virtual_machine_scale_sets, client.virtual_machine_scale_set_vms
        self.place = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}"
        self.subnet = subnet(azure, self.place)
        self.path = f"{self.place}/providers/{SET}/pool"

    def put(self, capacity: int = 2, **more: Any) -> Any:
        return self.put_body(scale_set(self.subnet, capacity, **more))

    def put_body(self, body: dict[str, Any]) -> Any:
        return self.sets.begin_create_or_update(self.group, "pool", VirtualMachineScaleSet(body)).result()

    def resize(self, capacity: int) -> Any:
        return self.sets.begin_update(self.group, "pool", {"sku": {"capacity": capacity}}).result()

    def instances(self) -> list[Any]:
        return list(self.machines.list(self.group, "pool", expand="instanceView"))

    def ids(self) -> list[str]:
        return [one.instance_id for one in self.instances()]

    def delete(self, *ids: str) -> None:
        self.sets.begin_delete_instances(self.group, "pool", {"instanceIds": list(ids)}).result()

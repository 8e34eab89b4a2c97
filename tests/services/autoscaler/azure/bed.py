"""A region of Azure in tests: real clients before the local Azure, two scale sets, and the region's memory of them."""

import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient

from fleet.autoscaler import CLUSTER_TAG
from services.autoscaler import group as groups
from services.autoscaler.azure.answers import Place
from services.autoscaler.azure.cloud import Azure
from services.autoscaler.group import Group
from services.autoscaler.region import ANYBODY, Region
from services.autoscaler.settings import Group as Told
from tests.components.pools.joining_client import eventually
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

REGION, SET, SPOT = "southcentralus", "example-south-gpu-1", "example-spare-all"
SIZE, FAMILY = "Standard_ND96isr_H100_v5", "standardNDSH100v5Family"
# Of nobody: Azure takes no Linux machine without one.
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA nobody"
KIND = "Microsoft.Compute/virtualMachineScaleSets"


def told(name: str) -> Told:
    about = {"pool": name, "owner": "research", "region": REGION, "least": 0, "most": 40, "gpus": 8}
    empty = {"metadata": {}, "spec": {}, "status": {"capacity": {}, "allocatable": {}}}
    return Told.model_validate({"name": name, **about, "price_usd": None, "template": empty})


class Bed(NamedTuple):
    """A resource group with two scale sets of the cluster, one of spot machines, and one of another cluster."""

    azure: LocalAzure
    client: Any
    group: str
    cloud: Azure
    region: Region

    @property
    def sets(self) -> Any:
        return self.client.virtual_machine_scale_sets

    def capacity(self, name: str = SET) -> int:
        return int(self.sets.get(self.group, name).sku.capacity)

    def instances(self, name: str = SET) -> dict[str, str]:
        """What each is, by its number."""
        found = self.client.virtual_machine_scale_set_vms.list(self.group, name)
        return {one.instance_id: one.properties.provisioning_state for one in found}

    def look(self, name: str = SET) -> Group:
        self.region.look()
        return self.region.groups[name]

    def grow(self, by: int, name: str = SET) -> None:
        self.region.grow(name, lambda one: groups.grown(one, by, time.time()), ANYBODY)

    def states(self, name: str = SET) -> list[str]:
        return [machine.state for machine in self.region.groups[name].machines]

    def running(self, count: int, name: str = SET) -> list[str]:
        """Machines, once so many run."""
        eventually(lambda: self.look(name) and self.states(name) == ["running"] * count)
        return [machine.id for machine in self.region.groups[name].machines]


def laid(azure: LocalAzure, group: str) -> Iterator[Bed]:
    """In a resource group, for as long as the generator lives."""
    subnets = [{"name": "private-1", "properties": {"addressPrefix": "10.0.0.0/20"}}]
    properties = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": subnets}
    network = {"location": REGION, "properties": properties}
    made = azure.client(NetworkManagementClient).virtual_networks.begin_create_or_update(group, "network", network)
    subnet = made.result().properties.subnets[0].id
    client = azure.client(ComputeManagementClient)
    for name, cluster, spot in ((SET, "main", False), (SPOT, "main", True), ("other", "next", False)):
        client.virtual_machine_scale_sets.begin_create_or_update(group, name, scale_set(subnet, cluster, spot)).result()
    cloud = Azure(REGION, "main", Place(SUBSCRIPTION, group), azure.client(ComputeManagementClient))
    cloud.list_seconds = 0.0  # no test waits for the next list
    region = Region(REGION, [told(SET), told(SPOT)], cloud, threading.Lock())
    region.look()
    yield Bed(azure, client, group, cloud, region)
    for name, empty in (("quotas", {}), ("capacity", []), ("faults", []), ("pace", {})):
        azure.own(name, empty)
    for name in (SET, SPOT):  # quotas and hardware are the subscription's
        client.virtual_machine_scale_sets.begin_delete(group, name, polling=False)


def scale_set(subnet: str, cluster: str, spot: bool) -> Any:
    address = {"name": "private", "properties": {"subnet": {"id": subnet}, "primary": True}}
    nic = {"name": "node", "properties": {"primary": True, "ipConfigurations": [address]}}
    image = {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
    profile: dict[str, Any] = {
        "storageProfile": {"imageReference": image},
        "osProfile": {
            "computerNamePrefix": "node",
            "adminUsername": "nobody1",
            "linuxConfiguration": {
                "disablePasswordAuthentication": True,
                "ssh": {"publicKeys": [{"path": "/home/nobody1/.ssh/authorized_keys", "keyData": KEY}]},
            },
        },
        "networkProfile": {"networkInterfaceConfigurations": [nic]},
    }
    if spot:
        profile |= {"priority": "Spot", "evictionPolicy": "Deallocate"}
    return {
        "location": REGION,
        "zones": ["1"],
        "tags": {CLUSTER_TAG: cluster},
        "sku": {"name": SIZE, "tier": "Standard", "capacity": 0},
        "properties": {
            "orchestrationMode": "Uniform",
            "overprovision": False,
            "singlePlacementGroup": True,
            "upgradePolicy": {"mode": "Manual"},
            "scaleInPolicy": {"rules": ["NewestVM"]},
            "virtualMachineProfile": profile,
        },
    }

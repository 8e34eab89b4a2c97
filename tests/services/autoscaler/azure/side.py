"""The example's region of Azure beside the local AWS: its scale sets in a local Azure, and what they have."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from azure.core.exceptions import ResourceNotFoundError
from azure.mgmt.compute import ComputeManagementClient

from components.pools.names import Names, zone_name
from fleet.world import World
from services.autoscaler import provider_ids
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.services.autoscaler.azure.bed import scale_set

REGION, POOL = "southcentralus", "south-gpu"
KIND = "Microsoft.Compute/virtualMachineScaleSets"
SIZE, FAMILY = "Standard_ND96isr_H100_v5", "standardNDSH100v5Family"


class Standing(NamedTuple):
    """A machine: its scale set, its zone as nodes have it, and the ID that its node has."""

    group: str
    zone: str
    provider: str


class AzureSide:
    """`seen` are all machines that there ever were, by their IDs: Azure forgets those that have ended."""

    def __init__(self, azure: LocalAzure, world: World, told: dict[str, Any]) -> None:
        self.azure, self.client = azure, azure.client(ComputeManagementClient)
        self.group = str(told["azure"]["resource_groups"][REGION])
        self.zones = {
            one.name: zone_name(world.fleet, REGION, one.zones[0]) for one in Names(world.fleet).scaling(POOL)
        }
        self.seen = set[str]()

    def lay(self) -> None:
        """The scale sets, as the pool's stack makes them, but for what their machines boot."""
        place = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{self.group}"
        network = f"{place}/providers/Microsoft.Network/virtualNetworks/network"
        subnets = [{"name": "private-1", "properties": {"addressPrefix": "10.0.0.0/20"}}]
        properties = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": subnets}
        for path, body in ((place, {}), (network, {"properties": properties})):
            answer = self.azure.put(path, {"location": REGION, **body})
            assert answer.status_code in (200, 201), answer.text
        for name, zone in self.zones.items():
            body = scale_set(f"{network}/subnets/private-1", "main", spot=False)
            body["zones"] = [zone.rpartition("-")[2]]
            body["properties"]["virtualMachineProfile"]["osProfile"]["computerNamePrefix"] = f"{name}-"
            self.client.virtual_machine_scale_sets.begin_create_or_update(self.group, name, body).result()

    def machines(self) -> Iterator[tuple[str, Standing]]:
        """Those that stand, by their computers' names."""
        for group, zone in self.zones.items():
            try:
                listed = list(self.client.virtual_machine_scale_set_vms.list(self.group, group))
            except ResourceNotFoundError:
                continue
            for one in listed:
                if one.properties.provisioning_state == "Succeeded":
                    provider = provider_ids.azure(SUBSCRIPTION, self.group, group, one.instance_id)
                    self.seen.add(provider)
                    yield one.properties.os_profile.computer_name.lower(), Standing(group, zone, provider)

    def launched(self) -> list[str]:
        list(self.machines())
        return sorted(self.seen)

    def refuse(self, *faults: dict[str, Any]) -> None:
        """At once, whatever scale sets are asked for. Without a fault all goes well again."""
        self.azure.own(
            "faults", [{"match": {"method": "PATCH", "type": KIND, **one.pop("match", {})}, **one} for one in faults]
        )

    def have(self, *limits: dict[str, Any]) -> None:
        """There is no more hardware than this."""
        self.azure.own("capacity", [{"location": REGION, "size": SIZE, **one} for one in limits])

    def quota(self, cores: int | None) -> None:
        self.azure.own("quotas", {} if cores is None else {REGION: {FAMILY: cores}})

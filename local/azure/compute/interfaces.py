"""The network interfaces of a scale set's instances, which are no resources of their own."""

import uuid
from typing import Any

from .. import addresses
from ..store import Resource


def of(scale_set: Resource, instance: Resource, given: list[str]) -> list[dict[str, Any]]:
    """The virtual network interfaces, as …/networkInterfaces lists them."""
    found, left = [], list(given)
    network = scale_set.properties["virtualMachineProfile"]["networkProfile"]
    for n, configuration in enumerate(network["networkInterfaceConfigurations"]):
        id_, properties = (
            f"{instance.id.text}/networkInterfaces/{configuration['name']}",
            configuration.get("properties") or {},
        )
        found.append(
            {
                "name": configuration["name"],
                "id": id_,
                "etag": f'W/"{uuid.uuid4()}"',
                "properties": {
                    **{
                        key: value
                        for key, value in properties.items()
                        if key not in ("ipConfigurations", "deleteOption")
                    },
                    "provisioningState": "Succeeded",
                    "primary": bool(properties.get("primary", n == 0)),
                    "macAddress": "-".join(f"{byte:02X}" for byte in (0, 0x0D, 0x3A, *uuid.uuid4().bytes[:3])),
                    "ipConfigurations": [
                        _address(id_, one, left.pop(0), first=at == 0)
                        for at, one in enumerate(properties.get("ipConfigurations") or ())
                    ],
                    "virtualMachine": {"id": instance.id.text},
                },
            }
        )
    return found


def allocations(interfaces: list[dict[str, Any]]) -> list[addresses.Held]:
    """What nobody else in their subnets gets."""
    found = []
    for nic in interfaces:
        for one in nic["properties"]["ipConfigurations"]:
            properties = one["properties"]
            found.append(addresses.Held(properties["subnet"]["id"].lower(), properties["privateIPAddress"], one["id"]))
    return found


def _address(nic: str, configuration: dict[str, Any], address: str, *, first: bool) -> dict[str, Any]:
    properties = configuration["properties"]
    return {
        "name": configuration["name"],
        "id": f"{nic}/ipConfigurations/{configuration['name']}",
        "properties": {
            **properties,
            "provisioningState": "Succeeded",
            "privateIPAddress": address,
            "privateIPAllocationMethod": "Dynamic",
            "privateIPAddressVersion": properties.get("privateIPAddressVersion", "IPv4"),
            "primary": bool(properties.get("primary", first)),
        },
    }

"""A pool's scale set by the `azure-native` plugin: what is said flat is sent nested, and what is secret stays where it is."""

from typing import Any

from local.providers import sdk_types
from local.providers.azure import models, shapes
from local.providers.azure.backend import Azure
from local.providers.codec import UNKNOWN
from tests.local.azure.machines import CUSTOM_DATA, scale_set, subnet
from tests.local.azure.support import LocalAzure, assert_model

SET, IDENTITY = "azure-native:compute:VirtualMachineScaleSet", "azure-native:managedidentity:UserAssignedIdentity"


def wanted(group: str, subnet_id: str, identity: str) -> dict[str, Any]:
    """As a program says it."""
    nic = {
        "name": "main",
        "primary": True,
        "ipConfigurations": [{"name": "primary", "primary": True, "subnet": {"id": subnet_id}}],
    }
    profile = scale_set(subnet_id)["properties"]["virtualMachineProfile"]
    return {
        "resourceGroupName": group,
        "vmScaleSetName": "pool",
        "location": "southcentralus",
        "zones": ["1", "2", "3"],
        "sku": {"name": "Standard_D2s_v5", "capacity": 2},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": [identity]},
        "orchestrationMode": "Uniform",
        "overprovision": False,
        "singlePlacementGroup": False,
        "upgradePolicy": {"mode": "Manual"},
        "tags": {"pool": "gpu"},
        "virtualMachineProfile": {**profile, "networkProfile": {"networkInterfaceConfigurations": [nic]}},
    }


def test_a_scale_set_is_made_read_back_changed_and_gone(
    plugin: Azure, azure: LocalAzure, group: str, place: str
) -> None:
    identity, _ = plugin.create(
        IDENTITY, {"resourceGroupName": group, "resourceName": "pool", "location": "southcentralus"}
    )
    inputs = wanted(group, subnet(azure, place), identity)
    assert sdk_types.mistakes(SET, inputs) == []
    id_, state = plugin.create(SET, inputs)
    assert CUSTOM_DATA not in str(state)
    assert len(azure.ask("GET", f"{id_}/virtualMachines").json()["value"]) == 2
    assert_model(models.model("compute.VirtualMachineScaleSet"), azure.ask("GET", id_).json())
    assert plugin.read(SET, id_, inputs, state) == (inputs, state)
    # A scaler's work is drift to whoever does not ignore it.
    azure.ask("PATCH", id_, {"sku": {"name": "Standard_D2s_v5", "capacity": 3}})
    found = plugin.read(SET, id_, inputs, state)
    assert found is not None
    assert found[0] == {**inputs, "sku": {"name": "Standard_D2s_v5", "capacity": 3}}
    changed = {**inputs, "tags": {"pool": "cpu"}}
    assert plugin.update(SET, id_, inputs, changed, state)["tags"] == {"pool": "cpu"}
    plugin.delete(SET, id_, state)
    assert plugin.read(SET, id_, inputs, state) is None


def test_a_list_of_identities_is_an_object_on_the_wire_and_a_list_again() -> None:
    types, of = sdk_types.input_type(SET).properties, models.model("compute.VirtualMachineScaleSet")
    said = {"identity": {"type": "UserAssigned", "userAssignedIdentities": ["/a", "/b"]}}
    body = shapes.to_wire(said, types, of, top=True)
    assert body == {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"/a": {}, "/b": {}}}}
    told = {"userAssignedIdentities": {"/b": {"principalId": "1"}, "/a": {"principalId": "2"}}, "type": "UserAssigned"}
    assert shapes.as_inputs(shapes.to_sdk({"identity": told}, types, of, top=True), types) == said


def test_a_preview_tells_identities_as_azure_will() -> None:
    types = shapes.output_types(SET)
    said = {"identity": {"type": "UserAssigned", "userAssignedIdentities": ["/a"]}, "zones": ["1"]}
    told = {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"/a": {}}}, "zones": ["1"]}
    assert shapes.foreseen(said, types) == told
    said["identity"]["userAssignedIdentities"] = [UNKNOWN]  # type: ignore[index]
    told["identity"]["userAssignedIdentities"] = UNKNOWN  # type: ignore[index]
    assert shapes.foreseen(said, types) == told

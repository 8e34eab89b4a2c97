"""What is taken for a model's JSON."""

from azure.mgmt.authorization.v2022_04_01.models import RoleAssignment
from azure.mgmt.compute.models import VirtualMachineScaleSet
from azure.mgmt.network.models import VirtualNetwork

from .shapes import problems


def test_a_network_as_azure_tells_of_it_fits() -> None:
    subnet = {"name": "a", "properties": {"addressPrefix": "10.0.0.0/24", "provisioningState": "Succeeded"}}
    properties = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": [subnet]}
    assert problems(VirtualNetwork, {"location": "a", "tags": {"a": "b"}, "properties": properties}) == []


def test_what_a_model_does_not_have_is_found_at_any_depth() -> None:
    body = {"properties": {"subnets": [{"properties": {"adressPrefix": "10.0.0.0/24"}}]}}
    assert [line.partition(":")[0] for line in problems(VirtualNetwork, body)] == [
        "VirtualNetwork.properties.subnets[0].properties.adressPrefix"
    ]


def test_types_and_enums_count() -> None:
    assert problems(VirtualNetwork, {"properties": {"provisioningState": "Ready"}})
    assert problems(VirtualNetwork, {"properties": {"enableDdosProtection": "false"}})
    assert problems(VirtualMachineScaleSet, {"sku": {"capacity": "3"}})
    assert problems(VirtualMachineScaleSet, {"sku": {"capacity": 3}}) == []


def test_older_models_are_read_too() -> None:
    assert problems(RoleAssignment, {"properties": {"principalId": "a", "principalType": "User"}}) == []
    assert problems(RoleAssignment, {"properties": {"principal": "a"}})

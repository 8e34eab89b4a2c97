"""What Azure Resource Manager does with any resource, asked by Azure's own clients and by plain requests."""

import time

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceNotFoundError
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.resource.resources import ResourceManagementClient

from .support import SUBSCRIPTION, LocalAzure

NETWORK = {"location": "South Central US", "properties": {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}}


def test_a_real_client_makes_reads_and_deletes_a_network(azure: LocalAzure, group: str) -> None:
    client = azure.client(NetworkManagementClient)
    made = client.virtual_networks.begin_create_or_update(group, "one", NETWORK).result()
    assert (made.location, made.provisioning_state, made.name) == ("southcentralus", "Succeeded", "one")
    assert client.virtual_networks.get(group.upper(), "ONE").id == made.id
    assert [one.name for one in client.virtual_networks.list(group)] == ["one"]
    client.virtual_networks.begin_delete(group, "one").result()
    with pytest.raises(ResourceNotFoundError):
        client.virtual_networks.get(group, "one")


def test_a_wrong_secret_gets_no_token(azure: LocalAzure) -> None:
    with pytest.raises(ClientAuthenticationError, match="AADSTS7000215"):
        azure.credential(secret="other").get_token("https://management.azure.com/.default")


def test_a_call_without_a_version_is_refused(azure: LocalAzure, place: str) -> None:
    answer = azure.ask("GET", place, version=None)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "MissingApiVersionParameter")


def test_a_type_that_is_not_there_is_refused(azure: LocalAzure, place: str) -> None:
    answer = azure.put(f"{place}/providers/Microsoft.Network/wormholes/one", {"location": "southcentralus"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "InvalidResourceType")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", ""),
        ("DELETE", "/resourceGroups"),
        ("PUT", "/resources"),
        ("PUT", "/locations"),
        ("PUT", "/providers/Microsoft.Compute"),
        ("GET", "/providers/Microsoft.Compute/register"),
    ],
)
def test_what_can_only_be_read_takes_no_other_call(azure: LocalAzure, method: str, path: str) -> None:
    answer = azure.ask(method, f"/subscriptions/{SUBSCRIPTION}{path}", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "MethodNotAllowed")


def test_a_part_needs_its_parent(azure: LocalAzure, place: str) -> None:
    answer = azure.put(f"{place}/providers/Microsoft.Network/virtualNetworks/none/subnets/one", {"properties": {}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "ParentResourceNotFound")


def test_a_write_takes_its_time_and_no_second_one(azure: LocalAzure, place: str) -> None:
    azure.own("pace", {"seconds": 30})
    path = f"{place}/providers/Microsoft.Network/virtualNetworks/slow"
    first = azure.put(path, NETWORK)
    assert first.status_code == 201
    assert first.json()["properties"]["provisioningState"] == "Creating"
    second = azure.put(path, NETWORK)
    assert (second.status_code, second.json()["error"]["code"]) == (409, "AnotherOperationInProgress")
    status = first.headers["Azure-AsyncOperation"].removeprefix("https://management.azure.com").partition("?")[0]
    assert azure.ask("GET", status).json()["status"] == "InProgress"
    azure.own("finish", {}, "POST")
    assert azure.ask("GET", status).json()["status"] == "Succeeded"
    assert azure.ask("GET", path).json()["properties"]["provisioningState"] == "Succeeded"


def test_the_same_again_is_no_new_one(azure: LocalAzure, place: str) -> None:
    path = f"{place}/providers/Microsoft.Network/virtualNetworks/twice"
    assert azure.put(path, NETWORK).status_code == 201
    assert azure.put(path.upper().replace("/SUBSCRIPTIONS", "/subscriptions"), NETWORK).status_code == 200


def test_an_etag_of_before_is_refused(azure: LocalAzure, place: str) -> None:
    path = f"{place}/providers/Microsoft.Network/virtualNetworks/marked"
    mark = azure.put(path, NETWORK).headers["ETag"]
    azure.put(path, {**NETWORK, "tags": {"a": "b"}})
    assert azure.ask("PUT", path, NETWORK, **{"If-Match": mark}).status_code == 412
    assert azure.ask("PUT", path, NETWORK, **{"If-None-Match": "*"}).status_code == 412


def test_a_group_goes_with_all_that_is_in_it(azure: LocalAzure, group: str) -> None:
    azure.client(NetworkManagementClient).virtual_networks.begin_create_or_update(group, "one", NETWORK).result()
    client = azure.client(ResourceManagementClient)
    client.resource_groups.begin_delete(group).result()
    assert not client.resource_groups.check_existence(group)
    assert group not in str(azure.own("inventory"))


def test_a_group_that_is_deleted_twice_at_once_goes_once_and_takes_no_write(azure: LocalAzure, place: str) -> None:
    azure.own("pace", {"seconds": 30})
    begun = [azure.ask("DELETE", place).headers["Azure-AsyncOperation"] for _ in range(2)]
    for method in ("PUT", "PATCH"):
        answer = azure.ask(method, place, {"location": "southcentralus"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "ResourceGroupBeingDeleted")
    azure.own("finish", {}, "POST")
    for one in begun:
        told = azure.ask("GET", one.removeprefix("https://management.azure.com").partition("?")[0]).json()
        assert told["status"] == "Succeeded", told


def test_a_planned_fault_comes_with_its_wait(azure: LocalAzure, group: str) -> None:
    match = {"method": "PUT", "type": "Microsoft.Network/virtualNetworks"}
    azure.own(
        "faults", [{"match": match, "status": 429, "code": "TooManyRequests", "retry_after_seconds": 1, "times": 1}]
    )
    began = time.monotonic()
    client = azure.client(NetworkManagementClient)
    client.virtual_networks.begin_create_or_update(group, "patient", NETWORK).result()
    assert time.monotonic() - began >= 1


def test_an_operation_that_fails_says_so_at_its_end(azure: LocalAzure, group: str) -> None:
    match = {"type": "Microsoft.Network/virtualNetworks"}
    azure.own("faults", [{"match": match, "status": 409, "code": "AllocationFailed", "late": True, "times": 1}])
    client = azure.client(NetworkManagementClient)
    poller = client.virtual_networks.begin_create_or_update(group, "late", NETWORK)
    with pytest.raises(HttpResponseError, match="AllocationFailed"):
        poller.result()
    assert client.virtual_networks.get(group, "late").provisioning_state == "Failed"


def test_a_group_of_another_place_is_refused(azure: LocalAzure, group: str) -> None:
    answer = azure.put(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}", {"location": "westeurope"})
    assert answer.json()["error"]["code"] == "InvalidResourceGroupLocation"

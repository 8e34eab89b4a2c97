"""The `azure-native` plugin against a local Azure, without an engine: what it does with ARM's answers."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import certifi
import pytest

from local.azure import tokens
from local.providers import sdk_types
from local.providers.azure.backend import Azure
from local.providers.azure.transport import Transport
from local.providers.servicer import HalfMade, ProviderError
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

from .project import ACCOUNT

VNET, SUBNET = "azure-native:network:VirtualNetwork", "azure-native:network:Subnet"


def network(group: str, name: str = "v", **more: Any) -> dict[str, Any]:
    address = {"addressPrefixes": ["10.1.0.0/16"]}
    return {"resourceGroupName": group, "virtualNetworkName": name, "location": "southcentralus", **more} | {
        "addressSpace": address
    }


def subnet(group: str, name: str, **more: Any) -> dict[str, Any]:
    return {
        "resourceGroupName": group,
        "virtualNetworkName": "v",
        "subnetName": name,
        "addressPrefix": "10.1.1.0/24",
    } | more


def test_what_is_there_already_is_not_taken_over(plugin: Azure, group: str) -> None:
    id_, _ = plugin.create(VNET, network(group))
    with pytest.raises(ProviderError, match=f"cannot create already existing resource '{id_}'"):
        plugin.create(VNET, network(group))


def test_parts_that_others_manage_outlive_a_change_of_the_whole(plugin: Azure, group: str) -> None:
    inputs = network(group)
    id_, state = plugin.create(VNET, inputs)
    plugin.create(SUBNET, subnet(group, "a"))
    read = plugin.read(VNET, id_, inputs, state)
    assert read is not None
    assert read[0] == inputs, "somebody else's subnet is no drift of the network"
    changed = {**inputs, "tags": {"a": "b"}}
    state = plugin.update(VNET, id_, inputs, changed, state)
    assert [one["name"] for one in state["subnets"]] == ["a"]
    assert state["subnets"][0]["addressPrefix"] == "10.1.1.0/24"
    read = plugin.read(VNET, id_, changed, state)
    assert read is not None
    assert read[0] == changed


def test_parts_that_are_said_with_the_whole_are_all_there_is(plugin: Azure, group: str) -> None:
    inputs = network(
        group, subnets=[{"name": "a", "addressPrefix": "10.1.1.0/24"}, {"name": "b", "addressPrefix": "10.1.2.0/24"}]
    )
    id_, state = plugin.create(VNET, inputs)
    assert [one["name"] for one in state["subnets"]] == ["a", "b"]
    fewer = {**inputs, "subnets": inputs["subnets"][:1]}
    state = plugin.update(VNET, id_, inputs, fewer, state)
    assert [one["name"] for one in state["subnets"]] == ["a"]


def test_a_change_by_others_is_drift_and_a_default_is_none(plugin: Azure, azure: LocalAzure, group: str) -> None:
    inputs = network(group, tags={"a": "b"})
    id_, state = plugin.create(VNET, inputs)
    same = plugin.read(VNET, id_, inputs, state)
    assert same is not None
    assert same[0] == inputs
    body = azure.ask("GET", id_).json()
    body["tags"]["more"] = "1"
    body["properties"]["enableDdosProtection"] = True
    azure.put(id_, body)
    found = plugin.read(VNET, id_, inputs, state)
    assert found is not None
    assert found[0] == {**inputs, "tags": {"a": "b", "more": "1"}, "enableDdosProtection": True}
    azure.ask("DELETE", id_)
    assert plugin.read(VNET, id_, inputs, state) is None


def test_an_import_says_what_a_program_would(plugin: Azure, group: str) -> None:
    id_, state = plugin.create(VNET, network(group, tags={"a": "b"}))
    found = plugin.read(VNET, id_, {}, {})
    assert found is not None
    assert found[0].items() >= network(group, tags={"a": "b"}).items()
    assert not {"id", "name", "type", "etag", "provisioningState"} & found[0].keys()
    assert found[1] == state


def test_a_slow_operation_is_followed_to_its_end(plugin: Azure, azure: LocalAzure, group: str) -> None:
    azure.own("pace", {"seconds": 0.3})
    began = time.monotonic()
    id_, state = plugin.create(VNET, network(group))
    assert time.monotonic() - began >= 0.3
    assert state["provisioningState"] == "Succeeded"
    plugin.delete(VNET, id_, state)
    assert azure.ask("GET", id_).status_code == 404
    plugin.delete(VNET, id_, state)


def test_two_writes_of_one_network_wait_for_each_other(plugin: Azure, azure: LocalAzure, group: str) -> None:
    plugin.create(VNET, network(group))
    azure.own("pace", {"seconds": 0.2})
    wanted = [subnet(group, f"n{n}", addressPrefix=f"10.1.{n}.0/24") for n in range(3)]
    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda inputs: plugin.create(SUBNET, inputs), wanted))
    assert [state["name"] for _, state in made] == ["n0", "n1", "n2"]


def test_what_fails_half_way_is_told_of_with_its_state(plugin: Azure, azure: LocalAzure, group: str) -> None:
    match = {"type": "Microsoft.Network/virtualNetworks"}
    azure.own("faults", [{"match": match, "status": 409, "code": "AllocationFailed", "late": True, "times": 1}])
    with pytest.raises(HalfMade, match="AllocationFailed") as failed:
        plugin.create(VNET, network(group))
    assert failed.value.state["provisioningState"] == "Failed"
    assert failed.value.id.endswith("/virtualNetworks/v")


def test_a_refusal_says_azure_s_code(plugin: Azure, group: str) -> None:
    with pytest.raises(ProviderError, match='Status=404 Code="ParentResourceNotFound"'):
        plugin.create(SUBNET, subnet(group, "a"))


def test_names_and_places_that_are_left_out_are_filled_in(plugin: Azure, azure: LocalAzure, group: str) -> None:
    checked = plugin.check(VNET, "net", {}, {"resourceGroupName": group}, b"seed")
    assert checked["virtualNetworkName"].startswith("net")
    assert len(checked["virtualNetworkName"]) == len("net") + 8
    assert (checked["location"], checked["azureApiVersion"]) == ("southcentralus", "2024-05-01")
    assert plugin.check(VNET, "net", checked, {"resourceGroupName": group}, b"other") == checked
    part = {"resourceGroupName": group, "virtualNetworkName": "v"}
    assert plugin.check(SUBNET, "private", {}, part, b"seed")["subnetName"] == "private"
    nowhere = Azure(Transport(f"127.0.0.1:{azure.tls}", azure.authority))
    nowhere.configure({"subscriptionId": SUBSCRIPTION, **ACCOUNT})
    assert nowhere.check(VNET, "net", {}, {"resourceGroupName": group}, b"")["location"] == "southcentralus"


def test_look_ups_answer_as_resources_do(plugin: Azure, group: str) -> None:
    id_, state = plugin.create(VNET, network(group))
    asked = {"resourceGroupName": group, "virtualNetworkName": "v"}
    assert plugin.invoke("azure-native:network:getVirtualNetwork", asked) == {**state, "id": id_}
    told = plugin.invoke("azure-native:authorization:getClientConfig", {})
    assert (told["objectId"], told["subscriptionId"]) == (tokens.DEPLOYER, SUBSCRIPTION)
    with pytest.raises(ProviderError, match="can't answer"):
        plugin.invoke("azure-native:network:listActiveConnectivityConfigurations", {})


def test_what_it_can_t_honour_it_refuses(plugin: Azure) -> None:
    with pytest.raises(ProviderError, match="the local cloud can't build azure-native:batch:BatchAccount yet"):
        plugin.check("azure-native:batch:BatchAccount", "b", {}, {}, b"")
    wrong = {**network("g"), "addressSpace": {"addressPrefixs": ["10.1.0.0/16"]}, "tags": {"a": 1}}
    told = {one.path: one.reason for one in sdk_types.mistakes(VNET, wrong)}
    assert told == {
        "addressSpace.addressPrefixs": "no such property: did you mean addressPrefixes?",
        "tags.a": "expected text, got 1",
    }
    # Types of one version of Azure's API are of a generated package of their own.
    old = "azure-native:network/v20230201:VirtualNetwork"
    assert [one.reason for one in sdk_types.mistakes(old, {})] == [f"pulumi_azure_native has no resource type {old}"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"useMsi": True}, "does not know the setting useMsi"),
        ({"environment": "china"}, "environment china is not there"),
        ({"subscriptionId": ""}, "the provider has no subscriptionId"),
    ],
)
def test_settings_that_mean_nothing_here_are_refused(
    plugin: Azure, monkeypatch: pytest.MonkeyPatch, setting: dict[str, Any], message: str
) -> None:
    monkeypatch.delenv("ARM_SUBSCRIPTION_ID", raising=False)
    with pytest.raises(ProviderError, match=message):
        plugin.configure({"subscriptionId": SUBSCRIPTION, **ACCOUNT, **setting})


def test_a_wrong_secret_is_told_and_a_stranger_s_certificate_is_not_taken(azure: LocalAzure, group: str) -> None:
    wrong = Azure(Transport(f"127.0.0.1:{azure.tls}", azure.authority))
    wrong.configure({"subscriptionId": SUBSCRIPTION, **ACCOUNT, "clientSecret": "other"})
    with pytest.raises(ProviderError, match="AADSTS7000215"):
        wrong.create(VNET, network(group))
    stranger = Azure(Transport(f"127.0.0.1:{azure.tls}", Path(certifi.where())))
    stranger.configure({"subscriptionId": SUBSCRIPTION, **ACCOUNT})
    with pytest.raises(ProviderError, match="certificate verify failed"):
        stranger.create(VNET, network(group))

"""Internal load balancers of the local Azure."""

import copy
from typing import Any

import pytest
from azure.mgmt.network import NetworkManagementClient, models

from .network_support import Place, reference
from .support import LocalAzure, assert_model


@pytest.fixture
def subnet(here: Place) -> dict[str, Any]:
    here.network()
    return here.subnet("10.1.0.0/24")


@pytest.fixture
def wanted(here: Place, subnet: dict[str, Any]) -> dict[str, Any]:
    """A control plane's: one zone-redundant static address, its machines, a probe of 6443."""
    path = here.path("loadBalancers", "api")
    front = {
        "subnet": reference(subnet),
        "privateIPAddress": "10.1.0.10",
        "privateIPAllocationMethod": "Static",
    }
    rule = {
        "frontendIPConfiguration": {"id": f"{path}/frontendIPConfigurations/front"},
        "backendAddressPool": {"id": f"{path}/backendAddressPools/planes"},
        "probe": {"id": f"{path}/probes/ready"},
        "protocol": "Tcp",
        "frontendPort": 6443,
        "backendPort": 6443,
    }
    probe = {"protocol": "Https", "port": 6443, "requestPath": "/readyz", "intervalInSeconds": 5}
    properties = {
        "frontendIPConfigurations": [{"name": "front", "zones": ["1", "2", "3"], "properties": front}],
        "backendAddressPools": [{"name": "planes"}],
        "probes": [{"name": "ready", "properties": probe}],
        "loadBalancingRules": [{"name": "api", "properties": rule}],
    }
    return {"sku": {"name": "Standard"}, "properties": properties}


def test_a_balancer_is_as_azures_client_says(
    azure: LocalAzure, group: str, here: Place, subnet: Any, wanted: Any
) -> None:
    client = azure.client(NetworkManagementClient)
    body = models.LoadBalancer({"location": "southcentralus", **wanted})
    made = client.load_balancers.begin_create_or_update(group, "api", body).result()
    assert_model(models.LoadBalancer, made.as_dict())
    assert made.frontend_ip_configurations[0].private_ip_address == "10.1.0.10"
    assert made.probes[0].load_balancing_rules[0].id == made.load_balancing_rules[0].id
    client.load_balancers.begin_create_or_update(group, "api", made).result()  # what it told, it takes
    pool = {"id": made.backend_address_pools[0].id}
    properties = {"subnet": reference(subnet), "loadBalancerBackendAddressPools": [pool]}
    one: dict[str, Any] = {"name": "ip", "properties": properties}
    card = here.make("networkInterfaces", "nic", properties={"ipConfigurations": [one]})
    assert_model(models.NetworkInterface, card)
    told = here.get("loadBalancers", "api")["properties"]["backendAddressPools"][0]["properties"]
    assert told["backendIPConfigurations"] == [{"id": f"{card['id']}/ipConfigurations/ip"}]
    assert here.delete("loadBalancers", "api") == "InUseLoadBalancerCannotBeDeleted"
    none = {"id": f"{made.id}/backendAddressPools/none"}
    one["properties"]["loadBalancerBackendAddressPools"] = [none]
    code = here.refused("networkInterfaces", "other", properties={"ipConfigurations": [one]})
    assert code == "InvalidResourceReference"


def test_a_frontends_address_is_nobody_elses(here: Place, subnet: Any, wanted: Any) -> None:
    here.make("loadBalancers", "api", **wanted)
    fixed = {"subnet": reference(subnet), "privateIPAllocationMethod": "Static", "privateIPAddress": "10.1.0.10"}
    body = {"ipConfigurations": [{"name": "ip", "properties": fixed}]}
    assert here.refused("networkInterfaces", "nic", properties=body) == "PrivateIPAddressIsAllocated"
    assert here.delete("virtualNetworks/subnets", "net", "a") == "InUseSubnetCannotBeDeleted"


CASES: list[tuple[str, str, dict[str, Any], str]] = [
    ("a probe without a path", "probes", {"requestPath": None}, "InvalidRequestFormat"),
    ("a probe too often", "probes", {"intervalInSeconds": 4}, "InvalidRequestFormat"),
    ("a zone that is none", "frontendIPConfigurations", {}, "InvalidRequestFormat"),
    ("an address outside", "frontendIPConfigurations", {"privateIPAddress": "10.1.1.1"}, "PrivateIPAddressNotInSubnet"),
    ("all ports by TCP", "loadBalancingRules", {"frontendPort": 0, "backendPort": 0}, "InvalidRequestFormat"),
    ("no such protocol", "loadBalancingRules", {"protocol": "Sctp"}, "InvalidRequestFormat"),
    ("no pool", "loadBalancingRules", {"backendAddressPool": None}, "LinkedInvalidPropertyId"),
    ("an unknown field", "loadBalancingRules", {"floating": True}, "InvalidRequestFormat"),
]


@pytest.mark.parametrize(("what", "at", "changed", "code"), CASES, ids=[one[0] for one in CASES])
def test_a_balancer_that_azure_refuses(
    here: Place, wanted: Any, what: str, at: str, changed: dict[str, Any], code: str
) -> None:
    wanted["properties"][at][0]["properties"].update(changed)
    if not changed:
        wanted["properties"][at][0]["zones"] = ["4"]
    assert here.refused("loadBalancers", "api", **wanted) == code, what


def test_rules_name_what_the_balancer_has_and_do_not_meet(here: Place, wanted: Any) -> None:
    rule = wanted["properties"]["loadBalancingRules"][0]
    for at in ("frontendIPConfiguration", "backendAddressPool", "probe"):
        body = copy.deepcopy(wanted)
        of = body["properties"]["loadBalancingRules"][0]["properties"]
        of[at]["id"] += "-none"
        assert here.refused("loadBalancers", "api", **body) == "InvalidResourceReference"
    for changed, code in (
        ({"backendPort": 6444}, "InvalidRequestFormat"),
        ({"frontendPort": 443}, "RulesUseSameBackendPortProtocolAndPool"),
    ):
        second = {"name": "second", "properties": {**rule["properties"], **changed}}
        body = {**wanted, "properties": {**wanted["properties"], "loadBalancingRules": [rule, second]}}
        assert here.refused("loadBalancers", "api", **body) == code
    second = {"name": "all", "properties": {**rule["properties"], "frontendPort": 443, "backendPort": 443}}
    here.make(
        "loadBalancers",
        "api",
        **{**wanted, "properties": {**wanted["properties"], "loadBalancingRules": [rule, second]}},
    )


def test_all_ports_are_one_rule(here: Place, wanted: Any) -> None:
    rule = wanted["properties"]["loadBalancingRules"][0]["properties"]
    rule.update(protocol="All", frontendPort=0, backendPort=0, enableFloatingIP=True)
    told = here.make("loadBalancers", "api", **wanted)["properties"]["loadBalancingRules"][0]["properties"]
    assert (told["protocol"], told["frontendPort"], told["enableFloatingIP"]) == ("All", 0, True)

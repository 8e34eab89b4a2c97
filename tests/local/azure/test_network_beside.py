"""Security groups, routes, public addresses, NAT gateways and interfaces of the local Azure."""

from typing import Any

from azure.mgmt.network import NetworkManagementClient, models

from .network_support import Place, reference
from .support import LocalAzure, assert_model

RULES = "networkSecurityGroups/securityRules"


def rule(**more: Any) -> dict[str, Any]:
    found = {"protocol": "Tcp", "access": "Allow", "direction": "Inbound", "priority": 200}
    found |= {"sourceAddressPrefix": "10.0.0.0/8", "sourcePortRange": "*"}
    return {**found, "destinationAddressPrefix": "*", "destinationPortRange": "22", **more}


def test_a_security_group_is_as_azures_client_says(azure: LocalAzure, group: str) -> None:
    client = azure.client(NetworkManagementClient)
    one = models.SecurityRule(name="ssh", properties=models.SecurityRulePropertiesFormat(rule()))
    wanted = models.NetworkSecurityGroup(location="southcentralus", security_rules=[one])
    client.network_security_groups.begin_create_or_update(group, "g", wanted).result()
    found = client.network_security_groups.get(group, "g")
    assert_model(models.NetworkSecurityGroup, found.as_dict())
    assert [one.name for one in found.security_rules] == ["ssh"]
    assert {one.priority for one in found.default_security_rules} == {65000, 65001, 65500}
    client.security_rules.begin_create_or_update(
        group, "g", "more", models.SecurityRule(rule_with(priority=201))
    ).result()
    assert len(client.network_security_groups.get(group, "g").security_rules) == 2


def rule_with(**more: Any) -> dict[str, Any]:
    return {"properties": rule(**more)}


def test_rules_that_azure_refuses(here: Place) -> None:
    here.make("networkSecurityGroups", "g", properties={"securityRules": [{"name": "one", **rule_with()}]})
    cases: list[tuple[dict[str, Any], str]] = [
        ({"priority": 200}, "SecurityRuleConflict"),
        ({"priority": 99}, "InvalidRequestFormat"),
        ({"priority": 4097}, "InvalidRequestFormat"),
        ({"sourceAddressPrefix": "10.0.0.1/8"}, "SecurityRuleInvalidAddressPrefix"),
        ({"sourceAddressPrefix": None}, "InvalidRequestFormat"),
        ({"sourceAddressPrefixes": ["10.0.0.0/8"]}, "InvalidRequestFormat"),
        (
            {"sourceAddressPrefix": None, "sourceAddressPrefixes": ["Internet"]},
            "SecurityRuleParameterContainsUnsupportedValue",
        ),
        ({"destinationPortRange": "443-22"}, "SecurityRuleInvalidPortRange"),
        (
            {"destinationPortRange": None, "destinationPortRanges": ["*"]},
            "SecurityRuleParameterContainsInvalidPortRanges",
        ),
        ({"protocol": "Gre"}, "InvalidRequestFormat"),
    ]
    for changed, code in cases:
        assert here.refused(RULES, "g", "two", **rule_with(**{"priority": 300, **changed})) == code, changed
    here.make(RULES, "g", "out", **rule_with(direction="Outbound"))  # the same priority, the other way


def test_a_security_groups_rules_are_those_of_its_last_put(here: Place) -> None:
    listed = [{"name": name, **rule_with(priority=priority)} for name, priority in (("a", 100), ("b", 101))]
    here.make("networkSecurityGroups", "g", properties={"securityRules": listed})
    here.make("networkSecurityGroups", "g", properties={"securityRules": listed[1:]})
    assert [one["name"] for one in here.get("networkSecurityGroups", "g")["properties"]["securityRules"]] == ["b"]


def test_routes_go_somewhere_and_once(here: Place) -> None:
    here.make("routeTables", "t", properties={})
    kind = "routeTables/routes"
    route = {"addressPrefix": "10.0.0.0/8", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.1.0.9"}
    made = here.make(kind, "t", "site", properties=route)
    assert_model(models.Route, made)
    assert_model(models.RouteTable, here.get("routeTables", "t"))
    for wrong in (
        {**route, "addressPrefix": "10.0.0.1/8"},
        {**route, "addressPrefix": "10.64.0.0/10", "nextHopType": "Internet"},
        {**route, "addressPrefix": "10.64.0.0/10", "nextHopIpAddress": None},
        {**route, "addressPrefix": "10.64.0.0/10", "nextHopType": "Gateway"},
        route,
    ):
        assert here.refused(kind, "t", "other", properties=wrong), wrong


def test_a_nat_gateway_has_standard_addresses_of_its_own(here: Place) -> None:
    address = here.public("one", zones=["1"])
    assert address["properties"]["ipAddress"].startswith("198.51.100.")
    assert_model(models.PublicIPAddress, address)
    body: dict[str, Any] = {"sku": {"name": "Standard"}, "properties": {"publicIpAddresses": [reference(address)]}}
    assert here.refused("natGateways", "nat", **body, zones=["2"]) == "InvalidRequestFormat"
    nat = here.make("natGateways", "nat", **body, zones=["1"])
    assert_model(models.NatGateway, nat)
    assert here.refused("natGateways", "other", **body) == "PublicIPAddressInUse"
    assert here.delete("publicIPAddresses", "one") == "PublicIPAddressCannotBeDeleted"
    assert here.get("publicIPAddresses", "one")["properties"]["natGateway"] == reference(nat)
    here.network()
    here.subnet("10.1.0.0/24", natGateway=reference(nat))
    assert here.delete("natGateways", "nat") == "InUseNatGatewayCannotBeDeleted"
    assert here.get("natGateways", "nat")["properties"]["subnets"][0]["id"].endswith("/subnets/a")


def test_public_addresses_are_standard_and_keep_what_they_have(here: Place) -> None:
    assert here.refused("publicIPAddresses", "basic", properties={}) == "IPv4BasicSkuPublicIpCountLimitReached"
    dynamic = {"sku": {"name": "Standard"}, "properties": {"publicIPAllocationMethod": "Dynamic"}}
    assert here.refused("publicIPAddresses", "dynamic", **dynamic) == "InvalidRequestFormat"
    one, other = here.public("one"), here.public("other")
    assert one["properties"]["ipAddress"] != other["properties"]["ipAddress"]
    assert here.public("one", tags={"a": "b"})["properties"]["ipAddress"] == one["properties"]["ipAddress"]


def interface(subnet: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"properties": {"ipConfigurations": [{"name": "ip", "properties": {"subnet": reference(subnet), **more}}]}}


def test_an_interface_gets_a_free_address_and_keeps_it(here: Place) -> None:
    here.network()
    subnet = here.subnet("10.1.0.0/29")
    found = [here.make("networkInterfaces", f"nic{n}", **interface(subnet)) for n in range(3)]
    addresses = [one["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"] for one in found]
    assert addresses == ["10.1.0.4", "10.1.0.5", "10.1.0.6"]
    assert here.refused("networkInterfaces", "full", **interface(subnet)) == "SubnetIsFull"
    again = here.make("networkInterfaces", "nic2", **interface(subnet), tags={"a": "b"})
    assert again["properties"]["macAddress"] == found[2]["properties"]["macAddress"]
    assert again["properties"]["ipConfigurations"][0]["properties"]["privateIPAddress"] == "10.1.0.6"
    assert_model(models.NetworkInterface, again)


def test_a_static_address_is_free_and_in_the_subnet(here: Place) -> None:
    here.network()
    subnet = here.subnet("10.1.0.0/24")

    def fixed(address: str) -> dict[str, Any]:
        return interface(subnet, privateIPAllocationMethod="Static", privateIPAddress=address)

    here.make("networkInterfaces", "one", **fixed("10.1.0.4"))
    cases = {
        "10.1.1.4": "PrivateIPAddressNotInSubnet",
        "10.1.0.3": "PrivateIPAddressInReservedRange",
        "10.1.0.255": "PrivateIPAddressInReservedRange",
        "10.1.0.4": "PrivateIPAddressIsAllocated",
    }
    for address, code in cases.items():
        assert here.refused("networkInterfaces", "two", **fixed(address)) == code
    here.make("networkInterfaces", "one", **fixed("10.1.0.9"))
    here.make("networkInterfaces", "two", **fixed("10.1.0.4"))  # which is free again


def test_zones_stay_what_they_were(here: Place) -> None:
    body: dict[str, Any] = {"sku": {"name": "Standard"}, "properties": {"publicIPAllocationMethod": "Static"}}
    here.make("publicIPAddresses", "one", **body, zones=["1", "2"])
    for zones in ({"zones": ["1", "2", "3"]}, {}):
        code = here.refused("publicIPAddresses", "one", **body, **zones)
        assert code == "ResourceAvailabilityZonesCannotBeModified"
    here.make("publicIPAddresses", "one", **body, zones=["2", "1"], tags={"a": "b"})
    assert here.refused("publicIPAddresses", "two", **body, zones=["4"]) == "InvalidRequestFormat"


def test_new_tags_leave_rules_and_routes_alone(azure: LocalAzure, here: Place) -> None:
    here.make("networkSecurityGroups", "g", properties={"securityRules": [{"name": "one", **rule_with()}]})
    route = {"addressPrefix": "10.0.0.0/8", "nextHopType": "None"}
    here.make("routeTables", "t", properties={"routes": [{"name": "one", "properties": route}]})
    for type_, name, parts in (("networkSecurityGroups", "g", "securityRules"), ("routeTables", "t", "routes")):
        answer = azure.ask("PATCH", here.path(type_, name), {"tags": {"a": "b"}})
        assert answer.status_code == 200, answer.text
        told = here.get(type_, name)
        assert (told["tags"], len(told["properties"][parts])) == ({"a": "b"}, 1)

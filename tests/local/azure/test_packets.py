"""Packets in networks that the local Azure has: what groups, tables and endpoints let pass between namespaces."""

from typing import Any

from local.network.routers import METADATA, PLATFORM

from .network_support import Place, reference
from .packets_support import Networks, card, group, rule


def test_rules_decide_by_priority_in_the_subnet_s_group_and_in_the_interface_s(here: Place, networks: Networks) -> None:
    closed = group(here, "s", rule(100, "Allow", "10.1.1.0/24", "80"), rule(110, "Deny", "10.1.0.0/16", "80-90"))
    own = group(here, "n", rule(200, "Deny", "10.1.1.9", "*"))
    here.subnet("10.1.0.0/24", "a", networkSecurityGroup=closed)
    here.subnet("10.1.1.0/24", "b")
    subnets = {name: here.get("virtualNetworks/subnets", "net", name) for name in "ab"}
    card(here, "10.1.0.5", subnets["a"], own)
    card(here, "10.1.0.6", subnets["a"])
    networks.apply()
    assert networks.passes("10.1.1.8", "10.1.0.5", 80)
    assert not networks.passes("10.1.0.8", "10.1.0.5", 80), "another source falls to the second rule"
    assert networks.passes("10.1.0.8", "10.1.0.5", 91), "the network's own, by Azure's default"
    assert not networks.passes("10.1.1.9", "10.1.0.5", 91), "the interface's group judges after the subnet's"
    assert networks.passes("10.1.1.9", "10.1.0.6", 91)


def test_what_leaves_is_judged_and_what_answers_is_not(here: Place, networks: Networks) -> None:
    out = rule(100, "Deny", "*", "5000-5010", direction="Outbound", destinationAddressPrefix="10.1.1.0/24")
    own = group(here, "n", out)
    shut = group(here, "s", rule(100, "Allow", "10.1.1.0/24", "80"), rule(4096, "Deny", "*"))
    a = here.subnet("10.1.0.0/24", "a", networkSecurityGroup=shut)
    b = here.subnet("10.1.1.0/24", "b")
    card(here, "10.1.0.5", a, own)
    card(here, "10.1.1.5", b)
    networks.apply()
    assert not networks.passes("10.1.0.5", "10.1.1.5", 5001)
    assert networks.passes("10.1.0.5", "10.1.1.5", 5011), "the answer needs no rule of the closed subnet"


def test_an_application_security_group_is_its_members(here: Place, networks: Networks) -> None:
    web = here.make("applicationSecurityGroups", "web")
    told = {"sourceApplicationSecurityGroups": [reference(web)], "sourceAddressPrefix": ""}
    shut = group(here, "s", rule(100, "Allow", "", "80", **told), rule(110, "Deny", "*"))
    a = here.subnet("10.1.0.0/24", "a", networkSecurityGroup=shut)
    card(here, "10.1.0.5", a)
    card(here, "10.1.0.6", a, applicationSecurityGroups=[reference(web)])
    networks.apply()
    assert networks.passes("10.1.0.6", "10.1.0.5", 80)
    assert not networks.passes("10.1.0.7", "10.1.0.5", 80)


def test_a_user_s_route_goes_before_all_others_and_only_for_its_subnet(here: Place, networks: Networks) -> None:
    routes = [{"name": "shut", "properties": {"addressPrefix": "10.1.2.0/24", "nextHopType": "None"}}]
    routes += [{"name": "in", "properties": {"addressPrefix": "10.1.2.64/26", "nextHopType": "VnetLocal"}}]
    table = here.make("routeTables", "t", properties={"routes": routes})
    here.subnet("10.1.0.0/24", "a", routeTable=reference(table))
    here.subnet("10.1.1.0/24", "b")
    c = here.subnet("10.1.2.0/24", "c")
    for address in ("10.1.2.5", "10.1.2.70"):
        card(here, address, c)
    networks.apply()
    assert not networks.passes("10.1.0.5", "10.1.2.5")
    assert networks.passes("10.1.0.5", "10.1.2.70"), "the longest prefix"
    assert networks.passes("10.1.1.5", "10.1.2.5"), "another subnet has no such table"


def test_azure_s_apis_are_reached_by_who_reaches_the_internet(here: Place, networks: Networks) -> None:
    address = here.public("nat")
    nat = here.make(
        "natGateways", "nat", sku={"name": "Standard"}, properties={"publicIpAddresses": [reference(address)]}
    )
    no_vault = rule(100, "Deny", "*", direction="Outbound", destinationAddressPrefix="AzureKeyVault")
    only_storage = [
        rule(100, "Allow", "*", direction="Outbound", destinationAddressPrefix="Storage.SouthCentralUS"),
        rule(110, "Deny", "*", direction="Outbound", destinationAddressPrefix="Internet"),
    ]
    closed = {"defaultOutboundAccess": False}
    subnets: dict[str, dict[str, Any]] = {
        "10.1.0.0/24": closed,
        "10.1.1.0/24": {**closed, "natGateway": reference(nat)},
        "10.1.2.0/24": {"networkSecurityGroup": group(here, "no", no_vault)},
        "10.1.3.0/24": {"networkSecurityGroup": group(here, "only", *only_storage)},
    }
    for n, (prefix, more) in enumerate(subnets.items()):
        card(here, prefix.replace("0/24", "5"), here.subnet(prefix, f"s{n}", **more))
    card(
        here,
        "10.1.0.6",
        here.get("virtualNetworks/subnets", "net", "s0"),
        publicIPAddress=reference(here.public("own")),
    )
    networks.apply()
    found = {n: networks.passes(f"10.1.{n}.5", PLATFORM) for n in range(4)}
    assert found == {0: False, 1: True, 2: False, 3: True}
    assert networks.passes("10.1.0.6", PLATFORM), "by a public address of its own"
    assert networks.passes("10.1.0.5", PLATFORM, 80), "what the platform itself answers, no group judges"
    assert networks.passes("10.1.0.5", METADATA, 80)
    assert [networks.passes(f"10.1.{n}.5", METADATA) for n in (0, 1, 3)] == [False, True, False], "AWS's APIs"


def test_a_private_endpoint_is_answered_and_judged_where_its_subnet_says_so(here: Place, networks: Networks) -> None:
    shut = group(here, "s", rule(100, "Allow", "10.1.1.5", "443"), rule(110, "Deny", "*"))
    policy = {"privateEndpointNetworkPolicies": "NetworkSecurityGroupEnabled"}
    storage = here.id + "/providers/Microsoft.Storage/storageAccounts/" + here.id.rpartition("-")[2] + "account"
    told = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}, "properties": {}}
    assert here.azure.put(storage, told).status_code in (200, 202)
    for name, prefix, more in (("judged", "10.1.2.0/24", policy), ("free", "10.1.3.0/24", {})):
        subnet = here.subnet(prefix, name, networkSecurityGroup=shut, **more)
        link = {"name": name, "properties": {"privateLinkServiceId": storage, "groupIds": ["blob"]}}
        properties = {"subnet": reference(subnet), "privateLinkServiceConnections": [link]}
        here.make("privateEndpoints", name, properties=properties)
    here.subnet("10.1.1.0/24", "b", defaultOutboundAccess=False)
    networks.apply()
    # Whoever answers is the local Azure: at the platform's address.
    assert networks.answers("10.1.1.5", "10.1.2.4")
    assert not networks.answers("10.1.1.6", "10.1.2.4")
    assert networks.answers("10.1.1.6", "10.1.3.4")

"""VPN gateways, local network gateways and connections of the local Azure."""

import copy
from typing import Any

import pytest
from azure.mgmt.network import NetworkManagementClient, models

from .network_support import Place, reference
from .support import LocalAzure, assert_model

POLICY = {
    "saLifeTimeSeconds": 27_000,
    "saDataSizeKilobytes": 102_400_000,
    "ipsecEncryption": "GCMAES256",
    "ipsecIntegrity": "GCMAES256",
    "ikeEncryption": "AES256",
    "ikeIntegrity": "SHA384",
    "dhGroup": "ECP384",
    "pfsGroup": "ECP384",
}
INSIDE = (["169.254.21.2", "169.254.21.6"], ["169.254.22.2", "169.254.22.6"])


def gateway_body(here: Place, subnet: dict[str, Any], *addresses: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Active-active with BGP, as landbridge makes its hubs, with custom addresses."""
    listed = [
        {"name": f"hub-{n}", "properties": {"subnet": reference(subnet), "publicIPAddress": reference(address)}}
        for n, address in enumerate(addresses, 1)
    ]
    path = here.path("virtualNetworkGateways", "hub")
    peers = [
        {"ipconfigurationId": f"{path}/ipConfigurations/hub-{n}", "customBgpIpAddresses": custom}
        for n, custom in zip(range(1, len(addresses) + 1), INSIDE, strict=False)
    ]
    properties = {
        "gatewayType": "Vpn",
        "vpnType": "RouteBased",
        "vpnGatewayGeneration": "Generation2",
        "sku": {"name": "VpnGw2AZ", "tier": "VpnGw2AZ"},
        "activeActive": len(addresses) == 2,
        "enableBgp": True,
        "bgpSettings": {"asn": 64_512, "bgpPeeringAddresses": peers},
        "ipConfigurations": listed,
    }
    return {"properties": {**properties, **more}}


@pytest.fixture
def hub(here: Place) -> dict[str, Any]:
    """What makes a gateway, with its network and its addresses."""
    here.network()
    subnet = here.subnet("10.1.255.0/27", "GatewaySubnet")
    addresses = [here.public(name, zones=["1", "2", "3"]) for name in ("one", "two")]
    return gateway_body(here, subnet, *addresses)


def test_an_active_active_gateway_tells_its_addresses(azure: LocalAzure, group: str, here: Place, hub: Any) -> None:
    client = azure.client(NetworkManagementClient)
    wanted = models.VirtualNetworkGateway({"location": "southcentralus", **hub})
    made = client.virtual_network_gateways.begin_create_or_update(group, "hub", wanted).result()
    assert_model(models.VirtualNetworkGateway, made.as_dict())
    assert made.bgp_settings.bgp_peering_address == "10.1.255.4,10.1.255.5"
    for n, one in enumerate(made.bgp_settings.bgp_peering_addresses):
        address = here.get("publicIPAddresses", ("one", "two")[n])["properties"]["ipAddress"]
        assert one.tunnel_ip_addresses == [address]
        assert one.custom_bgp_ip_addresses == INSIDE[n]
    client.virtual_network_gateways.begin_create_or_update(group, "hub", made).result()  # what it told, it takes
    assert here.delete("virtualNetworks/subnets", "net", "GatewaySubnet") == "InUseSubnetCannotBeDeleted"
    assert here.delete("publicIPAddresses", "one") == "PublicIPAddressCannotBeDeleted"


def test_one_instance_has_the_last_address(here: Place, hub: Any) -> None:
    body = copy.deepcopy(hub)
    body["properties"].update(activeActive=False, ipConfigurations=hub["properties"]["ipConfigurations"][:1])
    body["properties"]["bgpSettings"] = {"asn": 64_513}
    made = here.make("virtualNetworkGateways", "hub", **body)
    assert made["properties"]["bgpSettings"]["bgpPeeringAddress"] == "10.1.255.30"


GATEWAYS: list[tuple[str, dict[str, Any], str]] = [
    ("a SKU without zones", {"sku": {"name": "VpnGw2"}}, "NonAzSkusNotAllowedForVPNGateway"),
    ("the basic SKU", {"sku": {"name": "Basic"}}, "InvalidGatewaySkuSpecifiedForGatewayDeploymentType"),
    (
        "a generation that a SKU does not have",
        {"sku": {"name": "VpnGw1AZ"}},
        "VirtualNetworkGatewaySkuCannotBeCreatedForSpecifiedVmGeneration",
    ),
    ("too many configurations", {"activeActive": False}, "InvalidRequestFormat"),
    ("an ASN of Azure's", {"bgpSettings": {"asn": 65_517}}, "InvalidRequestFormat"),
    ("an ASN of IANA's", {"bgpSettings": {"asn": 64_500}}, "InvalidRequestFormat"),
    ("an unknown property", {"enableBGP": True}, "InvalidRequestFormat"),
]


@pytest.mark.parametrize(("what", "changed", "code"), GATEWAYS, ids=[one[0] for one in GATEWAYS])
def test_a_gateway_that_azure_refuses(here: Place, hub: Any, what: str, changed: dict[str, Any], code: str) -> None:
    body = {"properties": {**hub["properties"], **changed}}
    assert here.refused("virtualNetworkGateways", "hub", **body) == code, what


def test_custom_addresses_are_of_azures_range_and_of_the_gateways_configurations(here: Place, hub: Any) -> None:
    peers = hub["properties"]["bgpSettings"]["bgpPeeringAddresses"]
    for changed in ({"customBgpIpAddresses": ["169.254.6.2"]}, {"ipconfigurationId": f"{here.id}/other"}):
        body = copy.deepcopy(hub)
        body["properties"]["bgpSettings"]["bgpPeeringAddresses"] = [{**peers[0], **changed}, peers[1]]
        assert here.refused("virtualNetworkGateways", "hub", **body) == "InvalidRequestFormat"


def test_a_gateway_needs_its_own_subnet_and_addresses_with_zones(here: Place, hub: Any) -> None:
    other = here.subnet("10.1.0.0/24", "other")
    zoneless = here.public("zoneless")
    for at, value, code in (
        ("subnet", reference(other), "InvalidRequestFormat"),
        ("subnet", {"id": f"{other['id']}-none"}, "InvalidResourceReference"),
        ("publicIPAddress", reference(zoneless), "VmssVpnGatewayPublicIpsMustHaveZonesConfigured"),
    ):
        body = copy.deepcopy(hub)
        body["properties"]["ipConfigurations"][0]["properties"][at] = value
        assert here.refused("virtualNetworkGateways", "hub", **body) == code


def test_a_network_has_one_gateway(here: Place, hub: Any) -> None:
    here.make("virtualNetworkGateways", "hub", **hub)
    third, fourth = (here.public(name, zones=["1"]) for name in ("three", "four"))
    second = copy.deepcopy(hub)
    second["properties"].pop("bgpSettings")
    for one, address in zip(second["properties"]["ipConfigurations"], (third, fourth), strict=True):
        one["properties"]["publicIPAddress"] = reference(address)
    assert here.refused("virtualNetworkGateways", "second", **second) == "InvalidRequestFormat"


SITE: dict[str, Any] = {
    "gatewayIpAddress": "192.0.2.1",
    "bgpSettings": {"asn": 64_800, "bgpPeeringAddress": "169.254.21.1"},
}


def test_a_local_gateway_is_somewhere_and_has_something_behind_it(here: Place) -> None:
    made = here.make("localNetworkGateways", "site", properties=SITE)
    assert_model(models.LocalNetworkGateway, made)
    for changed in (
        {"gatewayIpAddress": None},
        {"gatewayIpAddress": "here"},
        {"bgpSettings": None},
        {"bgpSettings": {"asn": 65_515, "bgpPeeringAddress": "169.254.21.1"}},
        {"bgpSettings": {"asn": 64_800}},
        {"localNetworkAddressSpace": {"addressPrefixes": ["10.0.0.1/8"]}},
    ):
        assert here.refused("localNetworkGateways", "site", properties={**SITE, **changed}), changed


@pytest.fixture
def ends(here: Place, hub: Any) -> dict[str, Any]:
    """The properties of a connection whose ends are there."""
    gateway = here.make("virtualNetworkGateways", "hub", **hub)
    local = here.make("localNetworkGateways", "site", properties=SITE)
    custom = [
        {"ipConfigurationId": one["ipconfigurationId"], "customBgpIpAddress": one["customBgpIpAddresses"][0]}
        for one in gateway["properties"]["bgpSettings"]["bgpPeeringAddresses"]
    ]
    return {
        "connectionType": "IPsec",
        "virtualNetworkGateway1": reference(gateway),
        "localNetworkGateway2": reference(local),
        "sharedKey": "only-for-this-test",
        "enableBgp": True,
        "ipsecPolicies": [POLICY],
        "dpdTimeoutSeconds": 45,
        "gatewayCustomBgpIpAddresses": custom,
    }


def test_a_connection_keeps_its_key_to_itself(azure: LocalAzure, group: str, here: Place, ends: Any) -> None:
    made = here.make("connections", "tunnel", properties=ends)
    assert_model(models.VirtualNetworkGatewayConnection, made)
    assert "only-for-this-test" not in str(made)
    client = azure.client(NetworkManagementClient).virtual_network_gateway_connections
    assert client.get_shared_key(group, "tunnel").value == "only-for-this-test"
    without = {name: value for name, value in ends.items() if name != "sharedKey"}
    here.make("connections", "tunnel", properties=without)
    assert client.get_shared_key(group, "tunnel").value == "only-for-this-test"
    client.begin_set_shared_key(group, "tunnel", models.ConnectionSharedKey(value="another")).result()
    assert client.get_shared_key(group, "tunnel").value == "another"


def test_a_connection_tells_how_its_tunnels_are(azure: LocalAzure, here: Place, ends: Any) -> None:
    made = here.make("connections", "tunnel", properties=ends)
    assert made["properties"]["connectionStatus"] == "NotConnected"
    address = here.get("publicIPAddresses", "two")["properties"]["ipAddress"]
    azure.own("tunnels", [made["id"], {address: "Connected"}])
    told = here.get("connections", "tunnel")["properties"]
    assert told["connectionStatus"] == "Connected"
    assert sorted(one["connectionStatus"] for one in told["tunnelConnectionStatus"]) == ["Connected", "NotConnected"]


def test_a_gateway_tells_whom_it_speaks_bgp_with(azure: LocalAzure, group: str, here: Place, ends: Any) -> None:
    made = here.make("connections", "tunnel", properties=ends)
    address = here.get("publicIPAddresses", "two")["properties"]["ipAddress"]
    azure.own("tunnels", [made["id"], {address: "Connected"}])
    client = azure.client(NetworkManagementClient).virtual_network_gateways
    found = client.begin_get_bgp_peer_status(group, "hub").result().value
    assert {(one.local_address, one.neighbor, one.asn, one.state) for one in found} == {
        (INSIDE[0][0], SITE["bgpSettings"]["bgpPeeringAddress"], SITE["bgpSettings"]["asn"], "Connecting"),
        (INSIDE[1][0], SITE["bgpSettings"]["bgpPeeringAddress"], SITE["bgpSettings"]["asn"], "Connected"),
    }


def test_connections_that_azure_refuses(here: Place, ends: Any) -> None:
    custom = ends["gatewayCustomBgpIpAddresses"]
    cases: list[dict[str, Any]] = [
        {"localNetworkGateway2": None},
        {"localNetworkGateway2": {"id": here.path("localNetworkGateways", "none")}},
        {"ipsecPolicies": [{**POLICY, "dhGroup": None}]},
        {"ipsecPolicies": [{**POLICY, "ikeIntegrity": "SHA512"}]},
        {"ipsecPolicies": [{**POLICY, "ipsecIntegrity": "SHA256"}]},
        {"ipsecPolicies": [{**POLICY, "saLifeTimeSeconds": 299}]},
        {"ipsecPolicies": [POLICY, POLICY]},
        {"dpdTimeoutSeconds": 8},
        {"enableBgp": False},  # with custom addresses
        {"enableBgp": False, "gatewayCustomBgpIpAddresses": []},  # with nothing behind the other end
        {"gatewayCustomBgpIpAddresses": custom[:1]},
        {"gatewayCustomBgpIpAddresses": [custom[0], {**custom[1], "customBgpIpAddress": "169.254.21.2"}]},
        {"sharedKey": ""},
    ]
    for changed in cases:
        assert here.refused("connections", "tunnel", properties={**ends, **changed}), changed
    here.make("connections", "tunnel", properties=ends)
    assert here.refused("connections", "second", properties=ends) == "InvalidRequestFormat"


def test_a_connected_gateway_stays_and_keeps_what_is_used(here: Place, ends: Any, hub: Any) -> None:
    here.make("connections", "tunnel", properties=ends)
    assert here.delete("virtualNetworkGateways", "hub") == "VirtualNetworkGatewayCannotBeDeleted"
    assert here.delete("localNetworkGateways", "site") == "InUseLocalNetworkGatewayCannotBeDeleted"
    body = copy.deepcopy(hub)
    body["properties"]["bgpSettings"].pop("bgpPeeringAddresses")
    assert here.refused("virtualNetworkGateways", "hub", **body) == "InvalidRequestFormat"
    assert here.delete("connections", "tunnel") == ""
    here.make("virtualNetworkGateways", "hub", **body)
    assert here.delete("virtualNetworkGateways", "hub") == ""


def test_static_prefixes_do_not_overlap_the_network(here: Place, ends: Any) -> None:
    for prefix, taken in (("10.1.128.0/24", False), ("10.2.0.0/16", True)):
        site = {"gatewayIpAddress": "192.0.2.2", "localNetworkAddressSpace": {"addressPrefixes": [prefix]}}
        local = here.make("localNetworkGateways", f"static-{taken}", properties=site)
        body = {**ends, "localNetworkGateway2": reference(local), "enableBgp": False, "gatewayCustomBgpIpAddresses": []}
        answer = here.put("connections", f"static-{taken}", properties=body)
        assert (answer.status_code < 400) == taken


def test_a_network_uses_a_gateway_of_its_neighbour(here: Place, hub: Any) -> None:
    here.make("virtualNetworkGateways", "hub", **hub)
    here.network("spoke", "10.2.0.0/16")
    kind = "virtualNetworks/virtualNetworkPeerings"
    remote = {name: {"id": here.path("virtualNetworks", name)} for name in ("net", "spoke")}
    gives: dict[str, Any] = {"remoteVirtualNetwork": remote["spoke"], "allowGatewayTransit": False}
    takes: dict[str, Any] = {"remoteVirtualNetwork": remote["net"], "useRemoteGateways": True}
    here.make(kind, "net", "spoke", properties=gives)
    assert here.refused(kind, "spoke", "net", properties=takes) == "InvalidRequestFormat"
    here.make(kind, "net", "spoke", properties={**gives, "allowGatewayTransit": True})
    assert here.make(kind, "spoke", "net", properties=takes)["properties"]["peeringState"] == "Connected"

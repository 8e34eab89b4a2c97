"""Packets between networks that the local Azure has, to AWS and to sites: peerings, gateways, tunnels."""

from typing import Any

import pytest
from azure.mgmt.network import NetworkManagementClient

from local.network.plan import Site
from local.network.tunnels import digest

from .network_support import Place, reference
from .packets_support import Networks, card, group, peering, rule

LAB = Site("lab", "10.9.0.0/20", "10.9.0.0/21", ("192.0.2.10",))
GATEWAY_INSIDE = ("169.254.21.2", "169.254.21.6")
KEY, HUB, AWS_NETWORK = "only-for-this-test", "tgw", "10.3.0.0/18"
ASNS = {"azure": 64700, "aws": 64512, "lab": 65010}


def test_peers_reach_each_other_by_both_halves_and_what_these_allow(here: Place, networks: Networks) -> None:
    far = here.azure.put(
        here.path("virtualNetworks", "far"),
        {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.2.0.0/16"]}}},
    )
    assert far.status_code in (200, 201), far.text
    here.subnet("10.2.0.0/24", "a", "far")
    open_, explicit = (
        group(here, name, *found) for name, found in {"o": [], "e": [rule(100, "Allow", "10.2.0.0/24", "80")]}.items()
    )
    for n, of in enumerate((open_, explicit)):
        card(here, f"10.1.{n}.5", here.subnet(f"10.1.{n}.0/24", f"s{n}", networkSecurityGroup=of))
    peering(here, "net", "far")
    networks.apply()
    assert not networks.passes("10.2.0.5", "10.1.0.5", network="far"), "one half"
    peering(here, "far", "net")
    networks.apply()
    assert networks.passes("10.2.0.5", "10.1.0.5", network="far"), "the tag has the peer's addresses"
    assert not networks.passes("192.0.2.5", "10.1.1.5", 80, network="far")
    peering(here, "net", "far", allowVirtualNetworkAccess=False)
    networks.apply()
    assert not networks.passes("10.2.0.5", "10.1.0.5", network="far"), "the tag has them no more"
    assert networks.passes("10.2.0.5", "10.1.1.5", 80, network="far"), "a rule that names them"
    here.delete("virtualNetworks/virtualNetworkPeerings", "far", "net")
    networks.apply()
    assert not networks.passes("10.2.0.5", "10.1.1.5", 80, network="far")


def hub(here: Place) -> list[str]:
    """A gateway of two instances in `net`; gives their public addresses."""
    subnet = here.subnet("10.1.255.0/27", "GatewaySubnet")
    listed, addresses = [], []
    for n in (1, 2):
        public = here.public(f"hub-{n}", zones=["1", "2", "3"])
        addresses.append(public["properties"]["ipAddress"])
        listed.append(
            {"name": f"hub-{n}", "properties": {"subnet": reference(subnet), "publicIPAddress": reference(public)}}
        )
    at = here.path("virtualNetworkGateways", "hub") + "/ipConfigurations/hub-"
    inside = [
        {"ipconfigurationId": f"{at}{n}", "customBgpIpAddresses": [address]}
        for n, address in enumerate(GATEWAY_INSIDE, 1)
    ]
    told = {"gatewayType": "Vpn", "vpnType": "RouteBased", "activeActive": True, "enableBgp": True}
    told |= {"sku": {"name": "VpnGw2AZ", "tier": "VpnGw2AZ"}, "vpnGatewayGeneration": "Generation2"}
    told |= {"bgpSettings": {"asn": ASNS["azure"], "bgpPeeringAddresses": inside}, "ipConfigurations": listed}
    here.make("virtualNetworkGateways", "hub", properties=told)
    return addresses


def connection(here: Place, name: str, address: str, asn: int, bgp_address: str, **more: Any) -> str:
    """With another end; gives its id."""
    bgp = {"asn": asn, "bgpPeeringAddress": bgp_address}
    local = here.make("localNetworkGateways", name, properties={"gatewayIpAddress": address, "bgpSettings": bgp})
    gateway = here.get("virtualNetworkGateways", "hub")
    custom = [
        {"ipConfigurationId": f"{gateway['id']}/ipConfigurations/hub-{n}", "customBgpIpAddress": inside}
        for n, inside in enumerate(GATEWAY_INSIDE, 1)
    ]
    told = {"connectionType": "IPsec", "enableBgp": True, "gatewayCustomBgpIpAddresses": custom, "sharedKey": KEY}
    told |= {"virtualNetworkGateway1": reference(gateway), "localNetworkGateway2": reference(local)}
    made = here.make("connections", name, properties={**told, "connectionMode": "ResponderOnly", **more})
    return str(made["id"])


def aws(device: str) -> dict[str, Any]:
    """A region of AWS with a connection to the first instance of a gateway, as local/aws/network_state.py tells it."""
    attachments = [
        {"id": "net", "kind": "vpc", "to": "vpc", "table": "outward"},
        {"id": "vpn", "kind": "vpn", "to": "vpn-1", "table": "inward"},
    ]
    tables = {
        "outward": {"routes": [], "learns": ["vpn"]},
        "inward": {"routes": [{"cidr": "10.3.0.0/16", "attachments": ["net"]}], "learns": []},
    }
    everything = {"protocol": "-1", "ports": None, "cidr": "0.0.0.0/0", "group": None}
    vpc = {
        "id": "vpc",
        "cidrs": [AWS_NETWORK],
        "subnets": [{"cidr": AWS_NETWORK, "routes": [{"cidr": "10.0.0.0/8", "hub": HUB}]}],
        "interfaces": [{"address": "10.3.0.5", "groups": ["open"]}],
        "endpoints": [],
        "groups": {"open": {"in": [everything], "out": [everything]}},
    }
    tunnel = {"outside": "203.0.113.1", "asked": None, "inside": "169.254.21.0/30", "key": digest(KEY), "begins": True}
    return {
        "networks": [vpc],
        "hubs": [{"id": HUB, "asn": ASNS["aws"], "attachments": attachments, "tables": tables}],
        "connections": [
            {"id": "vpn-1", "hub": HUB, "device": device, "asn": ASNS["azure"], "tunnels": [tunnel]},
        ],
    }


@pytest.fixture
def joined(here: Place, networks: Networks) -> dict[str, Any]:
    """A gateway with a connection to AWS and one to a site, and a machine with Azure's own rules."""
    first, second = hub(here)
    card(here, "10.1.0.5", here.subnet("10.1.0.0/24", "a", networkSecurityGroup=group(here, "own")))
    ids = {"aws": connection(here, "aws", "203.0.113.1", ASNS["aws"], "169.254.21.1")}
    ids |= {"lab": connection(here, "lab", LAB.gateways[0], ASNS["lab"], "169.254.21.5")}
    networks.others, networks.sites = aws(first), [LAB]
    return {"first": first, "second": second, **ids}


def test_aws_and_sites_reach_a_network_by_its_gateway_and_no_further(
    here: Place, networks: Networks, joined: dict[str, Any]
) -> None:
    tunnels, ends = networks.apply()
    # AWS takes the network alone: the site's block comes with AWS's own number in the path.
    assert tunnels == {"203.0.113.1": 1}
    assert ends[joined["aws"]] == {joined["first"]: 1, joined["second"]: None}
    assert ends[joined["lab"]] == {joined["first"]: 1, joined["second"]: 1}
    assert networks.passes("10.3.0.9", "10.1.0.5", network="vpc")
    assert networks.passes("10.1.0.9", "10.3.0.5")
    assert networks.passes("10.9.0.9", "10.1.0.5", network=LAB.router)
    assert not networks.passes("10.9.0.9", "10.3.0.5", network=LAB.router), "a site believes a region's own block alone"
    assert not networks.passes("192.0.2.9", "10.1.0.5", network=LAB.router), "from another's address"
    networks.azure.own("ends", ends, "POST")
    told = here.get("connections", "lab")["properties"]
    assert [one["connectionStatus"] for one in told["tunnelConnectionStatus"]] == ["Connected"] * 2
    peers = here.azure.client(NetworkManagementClient).virtual_network_gateways
    found = peers.begin_get_bgp_peer_status(here.id.rpartition("/")[2], "hub").result().value
    assert {(one.neighbor, one.state, one.routes_received) for one in found if one.asn == ASNS["lab"]} == {
        ("169.254.21.5", "Connected", 1)
    }


def test_a_tunnel_is_down_where_its_ends_do_not_agree(here: Place, networks: Networks, joined: dict[str, Any]) -> None:
    cases: dict[str, Any] = {
        "another key": {"key": digest("another")},
        "another prefix inside": {"inside": "169.254.22.0/30"},
        "nobody begins": {"begins": False},
        "asked to be down": {"asked": False},
    }
    for what, changed in cases.items():
        networks.others = aws(joined["first"])
        networks.others["connections"][0]["tunnels"][0].update(changed)
        assert networks.apply()[0] == {"203.0.113.1": None}, what
    networks.others = aws(joined["second"])
    assert networks.apply()[0] == {"203.0.113.1": None}, "the other instance has another address inside"
    networks.others = aws(joined["first"])
    networks.others["hubs"][0]["asn"] = 64513
    assert networks.apply()[0] == {"203.0.113.1": None}, "another number than Azure was told"


def test_tunnels_that_somebody_wants_down_are_down(here: Place, networks: Networks, joined: dict[str, Any]) -> None:
    first, second = joined["first"], joined["second"]
    networks.azure.own("tunnels", [joined["lab"], {first: "NotConnected"}])
    assert networks.apply()[1][joined["lab"]] == {first: None, second: 1}
    assert networks.passes("10.9.0.9", "10.1.0.5", network=LAB.router), "by the other one"
    networks.azure.own("tunnels", [joined["lab"], {first: "NotConnected", second: "NotConnected"}])
    networks.apply()
    assert not networks.passes("10.9.0.9", "10.1.0.5", network=LAB.router)
    assert here.get("connections", "lab")["properties"]["connectionStatus"] == "NotConnected"


def test_a_peer_has_the_gateway_s_ways_if_both_halves_say_so(
    here: Place, networks: Networks, joined: dict[str, Any]
) -> None:
    here.network("far", "10.2.0.0/16")
    here.subnet("10.2.0.0/24", "a", "far")
    peering(here, "net", "far", allowGatewayTransit=True)
    peering(here, "far", "net")
    networks.apply()
    assert not networks.passes("10.2.0.9", "10.3.0.5", network="far")
    peering(here, "far", "net", useRemoteGateways=True)
    assert networks.apply()[0] == {"203.0.113.1": 2}
    assert networks.passes("10.2.0.9", "10.3.0.5", network="far")


def test_a_table_may_keep_what_the_gateway_tells_from_its_subnet(
    here: Place, networks: Networks, joined: dict[str, Any]
) -> None:
    told = {"disableBgpRoutePropagation": True}
    table = reference(here.make("routeTables", "t", properties=told))
    here.subnet("10.1.1.0/24", "b", routeTable=table)
    lead = {"addressPrefix": "10.3.0.0/24", "nextHopType": "VirtualNetworkGateway"}
    networks.apply()
    assert not networks.passes("10.1.1.9", "10.3.0.5")
    assert networks.passes("10.1.0.9", "10.3.0.5")
    here.make("routeTables", "t", properties={**told, "routes": [{"name": "lead", "properties": lead}]})
    networks.apply()
    assert networks.passes("10.1.1.9", "10.3.0.5"), "a route of the user's to the gateway"

"""VPN connections behave as AWS documents: options, checks, routes, propagation."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from botocore.exceptions import ClientError

Client = Callable[..., Any]
REGION = "ap-south-1"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def gateways(ec2: Any) -> dict[str, str]:
    customer = ec2.create_customer_gateway(BgpAsn=65010, PublicIp="192.0.2.10", Type="ipsec.1")
    hub = ec2.create_transit_gateway(Description="hub")
    return {
        "CustomerGatewayId": customer["CustomerGateway"]["CustomerGatewayId"],
        "TransitGatewayId": hub["TransitGateway"]["TransitGatewayId"],
    }


def connect(ec2: Any, gateways: dict[str, str], **options: Any) -> dict[str, Any]:
    return dict(ec2.create_vpn_connection(Type="ipsec.1", **gateways, Options=options)["VpnConnection"])


def test_the_options_of_both_tunnels_are_kept(ec2: Any, gateways: dict[str, str]) -> None:
    asked = [
        {
            "TunnelInsideCidr": f"169.254.100.{n * 4}/30",
            "PreSharedKey": f"secret.key_{n}",
            "StartupAction": "start",
            "Phase1EncryptionAlgorithms": [{"Value": "AES256"}],
            "Phase1DHGroupNumbers": [{"Value": 20}],
            "IKEVersions": [{"Value": "ikev2"}],
            "Phase1LifetimeSeconds": 7200,
        }
        for n in range(2)
    ]
    made = connect(ec2, gateways, TunnelOptions=asked)
    read = ec2.describe_vpn_connections(VpnConnectionIds=[made["VpnConnectionId"]])["VpnConnections"][0]
    tunnels = read["Options"]["TunnelOptions"]
    told = [{key: tunnel[key.replace("IKE", "Ike")] for key in asked[0]} for tunnel in tunnels]
    assert told == asked
    assert tunnels[0]["Phase2LifetimeSeconds"] == 3600
    assert tunnels[0]["OutsideIpAddress"] != tunnels[1]["OutsideIpAddress"]
    xml = ElementTree.fromstring(read["CustomerGatewayConfiguration"])
    assert [key.text for key in xml.iter("pre_shared_key")] == ["secret.key_0", "secret.key_1"]
    assert len(xml.findall("ipsec_tunnel")) == 2


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"TunnelInsideCidr": "169.254.0.0/30"}, "is reserved"),
        ({"TunnelInsideCidr": "169.254.169.252/30"}, "is reserved"),
        ({"TunnelInsideCidr": "10.0.0.0/30"}, "must be a /30 of"),
        ({"PreSharedKey": "0starts.with.zero"}, "Invalid PreSharedKey"),
        ({"PreSharedKey": "short"}, "Invalid PreSharedKey"),
        ({"Phase1LifetimeSeconds": 100}, "between 900 and 28800"),
        ({"Phase1LifetimeSeconds": 900, "Phase2LifetimeSeconds": 900}, "lower than the phase 1"),
        ({"DPDTimeoutSeconds": 10}, "between 30"),
        ({"Phase1DHGroupNumbers": [{"Value": 1}]}, "Invalid value 1 for Phase1DHGroupNumbers"),
        ({"StartupAction": "later"}, "one of add, start"),
    ],
)
def test_a_wrong_option_makes_no_connection(
    ec2: Any, gateways: dict[str, str], option: dict[str, Any], message: str
) -> None:
    before = len(ec2.describe_vpn_connections()["VpnConnections"])
    with pytest.raises(ClientError, match=message):
        connect(ec2, gateways, TunnelOptions=[option, {}])
    assert len(ec2.describe_vpn_connections()["VpnConnections"]) == before


def test_inside_prefixes_are_unique_at_a_gateway(ec2: Any, gateways: dict[str, str]) -> None:
    connect(ec2, gateways, TunnelOptions=[{"TunnelInsideCidr": "169.254.101.0/30"}, {}])
    with pytest.raises(ClientError, match="in use by another tunnel"):
        connect(ec2, gateways, TunnelOptions=[{"TunnelInsideCidr": "169.254.101.0/30"}, {}])


def test_a_tunnel_s_options_can_be_changed_one_at_a_time(ec2: Any, gateways: dict[str, str]) -> None:
    made = connect(ec2, gateways)
    first, second = made["Options"]["TunnelOptions"]
    changed = ec2.modify_vpn_tunnel_options(
        VpnConnectionId=made["VpnConnectionId"],
        VpnTunnelOutsideIpAddress=first["OutsideIpAddress"],
        TunnelOptions={"DPDTimeoutAction": "restart"},
    )["VpnConnection"]["Options"]["TunnelOptions"]
    assert changed[0]["DpdTimeoutAction"] == "restart"
    assert changed[0]["PreSharedKey"] == first["PreSharedKey"]
    assert changed[1] == second


def test_static_routes_belong_to_static_connections(ec2: Any, gateways: dict[str, str]) -> None:
    static = connect(ec2, gateways, StaticRoutesOnly=True)["VpnConnectionId"]
    route = {"VpnConnectionId": static, "DestinationCidrBlock": "10.133.0.0/20"}
    ec2.create_vpn_connection_route(**route)
    by_route = [{"Name": "route.destination-cidr-block", "Values": ["10.133.0.0/20"]}]
    found = ec2.describe_vpn_connections(Filters=by_route)["VpnConnections"]
    assert [connection["VpnConnectionId"] for connection in found] == [static]
    assert found[0]["Routes"][0]["DestinationCidrBlock"] == "10.133.0.0/20"
    ec2.delete_vpn_connection_route(**route)
    assert ec2.describe_vpn_connections(Filters=by_route)["VpnConnections"] == []
    with pytest.raises(ClientError, match="uses BGP"):
        ec2.create_vpn_connection_route(**{**route, "VpnConnectionId": connect(ec2, gateways)["VpnConnectionId"]})


def test_routes_propagate_only_from_an_attached_gateway(ec2: Any) -> None:
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    gateway = ec2.create_vpn_gateway(Type="ipsec.1")["VpnGateway"]["VpnGatewayId"]
    with pytest.raises(ClientError, match="NotAttached"):
        ec2.enable_vgw_route_propagation(RouteTableId=table, GatewayId=gateway)
    ec2.attach_vpn_gateway(VpcId=vpc, VpnGatewayId=gateway)
    ec2.enable_vgw_route_propagation(RouteTableId=table, GatewayId=gateway)
    read = ec2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]
    assert read["PropagatingVgws"] == [{"GatewayId": gateway}]
    ec2.disable_vgw_route_propagation(RouteTableId=table, GatewayId=gateway)
    assert ec2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0].get("PropagatingVgws", []) == []


def test_logs_and_the_hold_on_maintenance_are_kept_and_what_is_not_known_is_refused(
    ec2: Any, gateways: dict[str, str]
) -> None:
    group = "arn:aws:logs:ap-south-1:123456789012:log-group:tunnels"
    logs = {"LogEnabled": True, "LogGroupArn": group, "LogOutputFormat": "json", "BgpLogEnabled": False}
    asked = {"LogOptions": {"CloudWatchLogOptions": logs}, "EnableTunnelLifecycleControl": True}
    told = connect(ec2, gateways, TunnelOptions=[asked, {}])["Options"]["TunnelOptions"]
    assert told[0]["LogOptions"]["CloudWatchLogOptions"] == logs
    assert [one["EnableTunnelLifecycleControl"] for one in told] == [True, False]
    with pytest.raises(ClientError, match="needs LogGroupArn"):
        connect(ec2, gateways, TunnelOptions=[{"LogOptions": {"CloudWatchLogOptions": {"LogEnabled": True}}}, {}])
    with pytest.raises(ClientError, match="no tunnel option TunnelInsideIpv6Cidr"):
        connect(ec2, gateways, TunnelOptions=[{"TunnelInsideIpv6Cidr": "fd00::/126"}, {}])


def test_every_tunnel_has_an_address_of_its_own_and_is_down_until_somebody_speaks(
    ec2: Any, gateways: dict[str, str]
) -> None:
    connect(ec2, gateways)
    found = [one for one in ec2.describe_vpn_connections()["VpnConnections"] if one["State"] != "deleted"]
    outside = [tunnel["OutsideIpAddress"] for one in found for tunnel in one["Options"]["TunnelOptions"]]
    assert len(set(outside)) == len(outside) >= 4
    told = [tunnel for one in found for tunnel in one["VgwTelemetry"]]
    assert [tunnel["OutsideIpAddress"] for tunnel in told] == outside
    assert {(tunnel["Status"], tunnel["AcceptedRouteCount"]) for tunnel in told} == {("DOWN", 0)}

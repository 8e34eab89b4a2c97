"""CloudWatch tells of VPN connections what EC2 sees of their tunnels, and EC2's tags tell their ids."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest

from local.aws.names import service_of

Client = Callable[..., Any]
REGION = "ap-south-1"


@pytest.fixture(scope="module")
def connection(client: Client) -> dict[str, Any]:
    ec2 = client("ec2", REGION)
    ends = {
        "CustomerGatewayId": ec2.create_customer_gateway(BgpAsn=65010, PublicIp="192.0.2.11", Type="ipsec.1")[
            "CustomerGateway"
        ]["CustomerGatewayId"],
        "TransitGatewayId": ec2.create_transit_gateway(Description="hub")["TransitGateway"]["TransitGatewayId"],
    }
    return dict(ec2.create_vpn_connection(Type="ipsec.1", **ends)["VpnConnection"])


def state(client: Client, id_: str, statistic: str) -> list[float]:
    now = datetime.fromtimestamp(time.time(), UTC)
    metric = {"Namespace": "AWS/VPN", "MetricName": "TunnelState", "Dimensions": [{"Name": "VpnId", "Value": id_}]}
    asked = [{"Id": "a", "MetricStat": {"Metric": metric, "Period": 300, "Stat": statistic}}]
    told = client("cloudwatch", REGION).get_metric_data(
        MetricDataQueries=asked, StartTime=now - timedelta(minutes=10), EndTime=now
    )
    (found,) = told["MetricDataResults"]
    return [float(one) for one in found["Values"]]


def test_both_tunnels_of_a_connection_are_in_one_metric(
    client: Client, own: Callable[..., Any], connection: dict[str, Any]
) -> None:
    id_, (first, second) = connection["VpnConnectionId"], connection["Options"]["TunnelOptions"]
    assert state(client, id_, "Average") == [0.0]
    own("tunnels", {first["OutsideIpAddress"]: {"keys": True, "prefixes": 1}})
    assert state(client, id_, "Average") == [0.5]
    assert state(client, id_, "Minimum") == [0.0]
    # Keys without BGP are down.
    own("tunnels", {second["OutsideIpAddress"]: {"keys": True, "prefixes": None}})
    assert state(client, id_, "Average") == [0.5]
    own("tunnels", {second["OutsideIpAddress"]: {"keys": True, "prefixes": 1}})
    assert state(client, id_, "Minimum") == [1.0]
    assert state(client, "vpn-0123456789abcdef0", "Average") == []


def test_one_that_is_deleted_is_told_of_no_more(client: Client, connection: dict[str, Any]) -> None:
    client("ec2", REGION).delete_vpn_connection(VpnConnectionId=connection["VpnConnectionId"])
    assert state(client, connection["VpnConnectionId"], "Average") == []


def test_pods_find_it_by_the_name_that_aws_has_for_it() -> None:
    address = boto3.client("cloudwatch", region_name=REGION).meta.endpoint_url
    assert service_of(urlsplit(address).netloc) == ("monitoring", REGION)

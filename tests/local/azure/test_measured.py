"""What the local Azure Monitor measures of gateways: BGP with each peer by instances, and only what it has."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from .network_support import Place
from .support import LocalAzure
from .test_vpn import SITE, ends, hub  # noqa: F401  (fixtures)

VERSION = "2023-10-01"
PEER = SITE["bgpSettings"]["bgpPeeringAddress"]


def ask(azure: LocalAzure, gateway: str, **changed: str) -> Any:
    """As "Metrics - List" takes it."""
    until = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
    query = {
        "metricnames": "BgpPeerStatus",
        "timespan": f"{(until - timedelta(minutes=20)).isoformat()}Z/{until.isoformat()}Z",
        "interval": "PT5M",
        "aggregation": "Average",
        "$filter": f"BgpPeerAddress eq '{PEER}' and Instance eq '*'",
        **changed,
    }
    return azure.ask("GET", f"{gateway}/providers/Microsoft.Insights/metrics?{urlencode(query)}", version=VERSION)


def values(answer: Any) -> list[tuple[dict[str, str], list[float]]]:
    """By dimensions: the points that have a value."""
    (metric,) = answer.json()["value"]
    return [
        (
            {one["name"]["value"]: one["value"] for one in series["metadatavalues"]},
            [point["average"] for point in series["data"] if "average" in point],
        )
        for series in metric["timeseries"]
    ]


def test_each_instance_is_measured_with_each_peer(azure: LocalAzure, here: Place, ends: Any) -> None:  # noqa: F811
    made = here.make("connections", "tunnel", properties=ends)
    gateway = here.path("virtualNetworkGateways", "hub")
    address = here.get("publicIPAddresses", "two")["properties"]["ipAddress"]
    azure.own("tunnels", [made["id"], {address: "Connected"}])
    answer = ask(azure, gateway)
    first, second = ({"bgppeeraddress": PEER, "instance": f"GatewayTenantWorker_IN_{n}"} for n in (0, 1))
    assert values(answer) == [(first, [0.0]), (second, [1.0])]
    body = answer.json()
    assert (body["namespace"], body["resourceregion"]) == ("Microsoft.Network/virtualNetworkGateways", "southcentralus")
    data = body["value"][0]["timeseries"][0]["data"]
    assert len(data) == 4
    assert [one["timeStamp"] for one in data] == sorted(one["timeStamp"] for one in data)
    assert values(ask(azure, gateway, **{"$filter": f"BgpPeerAddress eq '{PEER}'"})) == [
        ({"bgppeeraddress": PEER}, [0.5])
    ]
    assert values(ask(azure, gateway, **{"$filter": "BgpPeerAddress eq '169.254.21.9'"})) == []
    long_ago = ask(azure, gateway, timespan="2026-01-01T00:00:00Z/2026-01-01T00:20:00Z")
    assert [points for _, points in values(long_ago)] == [[], []], "it keeps no past"


def test_a_tunnel_in_which_nobody_speaks_has_keys_all_the_same(azure: LocalAzure, here: Place, ends: Any) -> None:  # noqa: F811
    made = here.make("connections", "tunnel", properties=ends)
    address = here.get("publicIPAddresses", "two")["properties"]["ipAddress"]
    azure.own("tunnels", [made["id"], {address: "Silent"}])
    told = here.get("connections", "tunnel")["properties"]
    assert told["connectionStatus"] == "Connected"
    assert sorted(one["connectionStatus"] for one in told["tunnelConnectionStatus"]) == ["Connected", "NotConnected"]
    assert [points for _, points in values(ask(azure, here.path("virtualNetworkGateways", "hub")))] == [[0.0], [0.0]]


WRONG = [
    {"metricnames": "Mood"},
    {"metricnames": ""},
    {"metricnames": "TunnelAverageBandwidth"},
    {"interval": "PT7M"},
    {"timespan": "yesterday"},
    {"aggregation": "Total"},
    {"metricnamespace": "Microsoft.Compute/virtualMachines"},
    {"$filter": "Colour eq 'red'"},
    {"$filter": "BgpPeerAddress"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_it_does_not_have_is_refused(azure: LocalAzure, here: Place, hub: Any, wrong: dict[str, str]) -> None:  # noqa: F811
    gateway = here.make("virtualNetworkGateways", "hub", **hub)["id"]
    assert ask(azure, gateway).status_code == 200
    assert ask(azure, gateway, **wrong).status_code == 400


def test_no_gateway_has_no_metrics(azure: LocalAzure, here: Place) -> None:
    assert ask(azure, here.path("virtualNetworkGateways", "none")).status_code == 404

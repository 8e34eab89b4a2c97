"""Packets in the local cloud: what the port matrix opens passes, by its own rule; what it does not open does not.

The tables here stand beside those that security groups are compiled from: a row that is taken out there fails here.
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network
from typing import Any

import pytest

from components.control_plane import firewall
from components.control_plane.machines import cluster_spec
from components.network.ports import MATRIX
from fleet.world import World, current
from tests.components.pools.joining_client import eventually
from tests.support import packets
from tests.support.cloud import COMMAND, ROOT, Cloud
from tests.support.packets import Probe

pytestmark = pytest.mark.cloud
HOME, FAR = "us-west-2", "eu-west-1"
# Rows of the port matrix.
ROWS = [
    ("endpoints", "regions", "tcp", 443),
    ("endpoints", "sites", "tcp", 443),
    ("names", "sites", "udp", 53),
    ("names", "sites", "tcp", 53),
    ("names", "clouds", "udp", 53),
    ("names", "clouds", "tcp", 53),
    ("shares", "regions", "tcp", 2049),
    ("shares", "sites", "tcp", 2049),
]
ETCD, OTHER_ETCD, API, SITE = "main-etcd-1", "main-etcd-2", "main-api-1", "host-1.lab"
BALANCER = "balancer"
# Rules of a control plane that open one way between them: from whom, to whom, on which port.
WAYS = {
    ("api-out-main-clients-api", "etcd-in-main-clients-api"): (API, ETCD, 2379),
    ("etcd-out-main-clients", "etcd-in-main-clients"): (OTHER_ETCD, ETCD, 2379),
    ("etcd-out-main-peers", "etcd-in-main-peers"): (OTHER_ETCD, ETCD, 2380),
    ("api-out-events-clients-api", "etcd-in-events-clients-api"): (API, ETCD, 2381),
    ("etcd-out-events-clients", "etcd-in-events-clients"): (OTHER_ETCD, ETCD, 2381),
    ("etcd-out-events-peers", "etcd-in-events-peers"): (OTHER_ETCD, ETCD, 2382),
    ("balancer-in-fleet",): (SITE, BALANCER, 6443),
    ("balancer-out-api", "api-in-api"): (BALANCER, API, 6443),
    ("api-in-fleet",): (FAR, API, 6443),
    ("api-out-kubelets",): (API, SITE, 10250),
    ("api-out-webhooks-kueue",): (API, SITE, 9443),
    ("api-out-webhooks-jobset",): (API, SITE, 9445),
    ("etcd-out-https",): (ETCD, "endpoints", 443),
    ("api-out-https",): (API, "endpoints", 443),
}
# Pods have their addresses in the overlay, which no router of a cloud knows.
INSIDE = {"api-out-pods"}
CLOSED = [
    ("etcd from another region", FAR, ETCD, 2379),
    ("etcd from a site", SITE, ETCD, 2379),
    ("the peers' port of etcd from an API machine", API, ETCD, 2380),
    ("SSH between machines", ETCD, API, 22),
    ("the kubelet's port between machines", ETCD, API, 10250),
    ("another port of the shares", FAR, "shares", 111),
    ("another port of the endpoints", FAR, "endpoints", 80),
    ("the API from an address that is not the fleet's", "stranger", BALANCER, 6443),
    ("a site from a region, back from where nothing came", "stranger", SITE, 10250),
]
REVOKE = """
ec2 = client("ec2", "us-west-2")
named = {"Name": "group-name", "Values": ["example-us-west-2-endpoints"]}
(group,) = ec2.describe_security_groups(Filters=[named])["SecurityGroups"]
ec2.revoke_security_group_ingress(GroupId=group["GroupId"], IpPermissions=group["IpPermissions"])
"""
NETWORKS = """
import json
found = {}
for region in ("us-west-2", "us-east-1", "eu-west-1"):
    ec2 = client("ec2", region)
    for one in ec2.describe_vpc_endpoints()["VpcEndpoints"]:
        if one["NetworkInterfaceIds"]:
            cards = ec2.describe_network_interfaces(NetworkInterfaceIds=one["NetworkInterfaceIds"])["NetworkInterfaces"]
            found[region] = [one["VpcId"], cards[0]["PrivateIpAddress"]]
print(json.dumps(found))
"""

TUNNELS = """
import json, urllib.request
(found,) = [
    one for one in client("ec2", "us-west-2").describe_vpn_connections()["VpnConnections"]
    if any(tag["Value"].endswith("us-west-2-lab-1") for tag in one["Tags"])
]
ends = [one["OutsideIpAddress"] for one in found["VgwTelemetry"]][:{count}]
told = dict.fromkeys(ends, json.loads({state!r}))
asked = urllib.request.Request("http://127.0.0.1:5000/landbridge-api/tunnels", json.dumps(told).encode(), method="POST")
print(urllib.request.urlopen(asked).read().decode())
"""


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


@pytest.fixture(scope="module")
def places(cloud: Cloud, world: World) -> Iterator[dict[str, Any]]:
    """Sources and targets by name: machines as they are; a region is a card of its own in that network."""
    cloud.run("local", "host", "start", "lab", "host-1")
    found: dict[str, Any] = {}
    for region, (network, endpoint) in json.loads(cloud.python(NETWORKS)).items():
        zone = world.plan.region(region).zones["a"]
        found[region] = [network, str(IPv4Network(zone.private)[-2])]
        if region == FAR:
            found["far endpoints"] = endpoint
        if region == HOME:
            found |= {"endpoints": endpoint, "shares": zone.addresses["shares"], "names": zone.addresses["resolver/1"]}
            found |= {BALANCER: zone.addresses["main/balancer"], "stranger": [network, "192.0.2.77"]}
    yield found
    subprocess.run([COMMAND, "local", "host", "stop", "lab", "host-1"], env=cloud._environment(), check=True)


def passes(cloud: Cloud, places: dict[str, Any], source: str, target: str, port: int, protocol: str = "tcp") -> bool:
    asked = Probe(source=places.get(source, source), target=places.get(target, target), port=port, protocol=protocol)
    (found,) = packets.passed(cloud, asked)
    return found


def test_the_tables_here_have_every_row() -> None:
    world = current(ROOT / "fleet.yaml")
    assert set(ROWS) == {(row.to, row.source, row.protocol, row.port) for row in MATRIX}
    spec = cluster_spec(world.fleet, world.plan, "main")
    named = {rule.name for rule in firewall.rules(spec, world.plan.supernet)}
    assert named == {name for names in WAYS for name in names} | INSIDE


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(map(str, row)))
def test_a_row_of_the_port_matrix_lets_packets_through(
    cloud: Cloud, places: dict[str, Any], row: tuple[str, str, str, int]
) -> None:
    to, of, protocol, port = row
    # What Azure's networks ask: tests/e2e/test_two_clouds.py.
    for source in {"regions": (HOME, FAR), "sites": (SITE,), "clouds": ()}[of]:
        assert passes(cloud, places, source, to, port, protocol), source


@pytest.mark.parametrize("rules", WAYS, ids=" ".join)
def test_a_rule_of_the_control_plane_lets_packets_through(
    cloud: Cloud, places: dict[str, Any], rules: Sequence[str]
) -> None:
    assert passes(cloud, places, *WAYS[tuple(rules)])


@pytest.mark.parametrize(("what", "source", "target", "port"), CLOSED, ids=[row[0] for row in CLOSED])
def test_nothing_else_passes(
    cloud: Cloud, places: dict[str, Any], what: str, source: str, target: str, port: int
) -> None:
    assert not passes(cloud, places, source, target, port), what


def test_without_its_rules_a_group_lets_nothing_in_and_a_repair_opens_it_again(
    cloud: Cloud, places: dict[str, Any]
) -> None:
    cloud.python(REVOKE)
    try:
        eventually(lambda: not passes(cloud, places, FAR, "endpoints", 443))
    finally:
        cloud.run("up", "--local", "--yes", "--refresh", HOME)
    eventually(lambda: passes(cloud, places, FAR, "endpoints", 443))


def test_a_site_reaches_a_region_by_its_tunnels_alone(cloud: Cloud, places: dict[str, Any]) -> None:
    def have(state: dict[str, Any] | None, count: int = 2) -> None:
        cloud.python(TUNNELS.format(count=count, state=json.dumps(state)))

    def reaches(region: str) -> bool:
        endpoint = places["endpoints"] if region == HOME else places["far endpoints"]
        return passes(cloud, places, SITE, endpoint, 443)

    assert reaches(HOME)
    down = {"keys": False, "prefixes": None}
    try:
        have(down, 1)
        # One of two is enough, both ways.
        assert all(reaches(HOME) for _ in range(4))
        have(down)
        eventually(lambda: not reaches(HOME))
        assert reaches(FAR)
        said = cloud.report("links", "check", "--local", code=None)["tunnels"]
        assert {one["tunnel"]: one["state"] for one in said if one["tunnel"].startswith("lab/us-west-2")} == {
            "lab/us-west-2/1": "down",
            "lab/us-west-2/2": "down",
        }
    finally:
        have(None)
    eventually(lambda: reaches(HOME))

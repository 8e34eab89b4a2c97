"""A fleet in two clouds on the real engine: regions of AWS and of Azure and a site, all joined with each other."""

import json
import sys
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from itertools import product
from typing import Any, NamedTuple

import pytest

from components.links.trace import Paths, Port
from fleet.world import World, current
from local.azure.network_state import router
from local.kubernetes import BUILT_IN
from local.network.routers import PLATFORM
from tests.components.pools.joining_client import eventually
from tests.e2e.azure.test_region import SUBSCRIPTION
from tests.e2e.test_lifecycle import changes, drift
from tests.support import cloud as clouds
from tests.support import packets
from tests.support.cloud import Cloud
from tests.support.packets import Probe

pytestmark = pytest.mark.cloud
FLEET = f"""\
fleet: both
owner: ops
domain: both.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "123456789012"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: 00000000-0000-4000-8000-000000000001}}
regions:
  us-west-2: {{cloud: aws, zones: [a]}}
  southcentralus: {{cloud: azure, zones: ["1"]}}
  westeurope: {{cloud: azure, zones: ["1"]}}
sites:
  lab: {{gateways: [192.0.2.10], asn: 65010}}
teams:
  ops: {{gid: 2000}}
"""
PROVIDERS = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/both-southcentralus/providers/Microsoft.Network"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = clouds.make(tmp_path_factory.mktemp("both"), FLEET)
    yield made
    made.stop()


def test_all_of_it_comes_up_and_stays_unchanged(cloud: Cloud) -> None:
    created = changes(cloud.report("up", "--local", "--yes"))
    assert created.keys() == {"us-west-2", "southcentralus", "westeurope", "links"}
    assert all(set(counts) == {"created"} for counts in created.values()), created
    unchanged = changes(cloud.report("up", "--local", "--yes", "--full", "--expect-no-changes"))
    assert all(set(counts) == {"same"} for counts in unchanged.values()), unchanged
    assert drift(cloud, "links") == set()


def connections(cloud: Cloud) -> dict[str, Any]:
    listed = cloud.azure("GET", f"{PROVIDERS}/connections")["value"]
    return {one["name"]: one["properties"] for one in listed}


def test_each_end_of_a_tunnel_between_clouds_knows_the_other(cloud: Cloud) -> None:
    gateways = {
        one["id"]: one["properties"] for one in cloud.azure("GET", f"{PROVIDERS}/localNetworkGateways")["value"]
    }
    code = 'import json; print(json.dumps(client("ec2", "us-west-2").describe_vpn_connections()["VpnConnections"], default=str))'
    aws = [one for one in json.loads(cloud.python(code)) if one["State"] == "available"]
    tunnels = {t["OutsideIpAddress"]: t for one in aws for t in one["Options"]["TunnelOptions"]}
    crossing = {name: one for name, one in connections(cloud).items() if "us-west-2" in name}
    assert len(crossing) == 4
    for one in crossing.values():
        other = gateways[one["localNetworkGateway2"]["id"]]
        tunnel = tunnels[other["gatewayIpAddress"]]
        first, second = (str(n) for n in hosts(tunnel["TunnelInsideCidr"]))
        assert other["bgpSettings"]["bgpPeeringAddress"] == first, "AWS has the first address"
        assert second in [each["customBgpIpAddress"] for each in one["gatewayCustomBgpIpAddresses"]]
    listed = cloud.azure("GET", f"{PROVIDERS}/publicIPAddresses")["value"]
    hubs = {one["properties"]["ipAddress"] for one in listed if "-hub-" in one["name"]}
    code = 'import json; print(json.dumps(client("ec2", "us-west-2").describe_customer_gateways()["CustomerGateways"]))'
    assert hubs <= {one["IpAddress"] for one in json.loads(cloud.python(code))}


def hosts(cidr: str) -> list[Any]:
    from ipaddress import IPv4Network

    return list(IPv4Network(cidr).hosts())


def test_every_connection_has_the_one_policy_and_no_key_in_sight(cloud: Cloud) -> None:
    for one in connections(cloud).values():
        (policy,) = one["ipsecPolicies"]
        assert (policy["ipsecEncryption"], policy["ipsecIntegrity"]) == ("GCMAES256", "GCMAES256")
        assert (policy["ikeEncryption"], policy["dhGroup"], policy["pfsGroup"]) == ("AES256", "ECP384", "ECP384")
        assert one["enableBgp"] is True
        assert "sharedKey" not in one


def test_alarms_watch_what_is_spoken_with_each_site(cloud: Cloud) -> None:
    group = PROVIDERS.removesuffix("/Microsoft.Network")
    alerts = cloud.azure("GET", f"{group}/Microsoft.Insights/metricAlerts")["value"]
    assert {one["name"] for one in alerts} == {f"both-links-southcentralus-lab-1-{n}" for n in ("one-down", "all-down")}
    peers = {
        one["properties"]["bgpSettings"]["bgpPeeringAddress"]
        for one in cloud.azure("GET", f"{PROVIDERS}/localNetworkGateways")["value"]
        if one["name"].endswith("lab-1")
    }
    for one in alerts:
        (criterion,) = one["properties"]["criteria"]["allOf"]
        assert set(criterion["dimensions"][0]["values"]) == peers


RULES = """
import json
found = {}
of = client("route53resolver", "us-west-2")
ends = {one["Id"]: one for one in of.list_resolver_endpoints()["ResolverEndpoints"]}
rules = {one["Id"]: one for one in of.list_resolver_rules()["ResolverRules"]}
for one in of.list_resolver_rule_associations()["ResolverRuleAssociations"]:
    rule = rules[one["ResolverRuleId"]]
    assert ends[rule["ResolverEndpointId"]]["Direction"] == "OUTBOUND"
    assert ends[rule["ResolverEndpointId"]]["HostVPCId"] == one["VPCId"]
    found[rule["DomainName"]] = [target["Ip"] for target in rule["TargetIps"]]
inbound = [one for one in ends.values() if one["Direction"] == "INBOUND"]
answers = [each["Ip"] for one in inbound
    for each in of.list_resolver_endpoint_ip_addresses(ResolverEndpointId=one["Id"])["IpAddresses"]]
print(json.dumps([found, sorted(answers)]))
"""


def test_each_cloud_asks_the_other_one_where_that_answers(cloud: Cloud) -> None:
    asked, answers = json.loads(cloud.python(RULES))
    assert asked.keys() == {"southcentralus.both.example.com.", "westeurope.both.example.com."}
    for region in ("southcentralus", "westeurope"):
        place = PROVIDERS.replace("southcentralus", region)
        (end,) = cloud.azure("GET", f"{place}/dnsResolvers/both-{region}-resolver/inboundEndpoints")["value"]
        at = [one["privateIpAddress"] for one in end["properties"]["ipConfigurations"]]
        assert asked[f"{region}.both.example.com."] == at
        (linked,) = cloud.azure("GET", f"{place}/dnsForwardingRulesets/both-{region}-questions/virtualNetworkLinks")[
            "value"
        ]
        assert linked["properties"]["virtualNetwork"]["id"].endswith(f"both-{region}-network")
        (rule,) = cloud.azure("GET", f"{place}/dnsForwardingRulesets/both-{region}-questions/forwardingRules")["value"]
        assert rule["properties"]["domainName"] == "us-west-2.both.example.com."
        assert sorted(one["ipAddress"] for one in rule["properties"]["targetDnsServers"]) == answers


# A name in a zone of each cloud, and what machines of each network and hosts of sites then find.
KNOWN = """
import json, urllib.request
from local.supervisor import names, worlds
route53 = client("route53", "us-west-2")
(zone,) = [one for one in route53.list_hosted_zones()["HostedZones"] if one["Name"].startswith("us-west-2.")]
record = {"Name": "api.us-west-2.both.example.com", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.9.0.1"}]}
for action in ("UPSERT", "DELETE"):
    batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
    route53.change_resource_record_sets(HostedZoneId=zone["Id"], ChangeBatch=batch)
    if action == "UPSERT":
        urls = [f"http://127.0.0.1:{port}/landbridge-api/world" for port in (5000, 5003)]
        world = worlds.merged([json.loads(urllib.request.urlopen(url).read()) for url in urls])
networks = {one["id"]: names.of_network(world, one["id"]) for one in (*world["networks"], *world["vnets"])}
print(json.dumps({"sites": names.of_sites(world), **networks}))
"""


def test_every_network_and_every_site_finds_names_of_both_clouds(cloud: Cloud) -> None:
    record = f"{PROVIDERS}/privateDnsZones/southcentralus.both.example.com/A/api"
    body = {"properties": {"ttl": 60, "aRecords": [{"ipv4Address": "10.9.0.2"}]}}
    cloud.azure("PUT", record, body)
    found = json.loads(cloud.python(KNOWN))
    cloud.azure("DELETE", record)
    assert len(found) >= 4, "sites, and the networks of three regions"
    for who, text in found.items():
        assert "10.9.0.1 api.us-west-2.both.example.com\n" in text, who
        assert "10.9.0.2 api.southcentralus.both.example.com\n" in text, who


def test_a_site_s_gateway_gets_its_keys_out_of_the_region_s_vault(cloud: Cloud) -> None:
    """And the vault's name resolves, for who runs in the local cloud."""
    folder = cloud.home.parent / "gateways"
    cloud.run("site", "gateway", "lab", "--local", "--output", str(folder))
    written = "".join(path.read_text() for path in folder.rglob("*.conf"))
    assert "southcentralus" in written
    assert "westeurope" in written


def test_azure_is_asked_how_its_tunnels_are(cloud: Cloud) -> None:
    told = cloud.report("links", "check", "--local", code=None)
    states = {one["tunnel"]: one["state"] for one in told["tunnels"]}
    assert {states[f"lab/{region}/{n}"] for region in ("southcentralus", "westeurope") for n in (1, 2)} == {"down"}


ENDPOINTS = """
import json
ec2, found = client("ec2", "us-west-2"), {}
for one in ec2.describe_vpc_endpoints()["VpcEndpoints"]:
    if one["NetworkInterfaceIds"]:
        cards = ec2.describe_network_interfaces(NetworkInterfaceIds=one["NetworkInterfaceIds"])["NetworkInterfaces"]
        found = [one["VpcId"], cards[0]["PrivateIpAddress"]]
print(json.dumps(found))
"""
HOST, AWS, NEAR, FAR = "host-1.lab", "us-west-2", "southcentralus", "westeurope"
# What answers in a region, and beside it a port that nobody opens.
PORTS = {
    "endpoints": ("tcp", 443),
    "blob": ("tcp", 443),
    "vault": ("tcp", 443),
    "shares": ("tcp", 2049),
    "names": ("udp", 53),
}
CLOSED = ("tcp", 22)


# The fleet has no cluster whose node a host could be, so no command has one stand up.
STAND_UP = "import json, sys; from local import hosts; hosts.stand_up(json.loads(sys.argv[1]))"


def host(world: World) -> dict[str, Any]:
    site = world.plan.site("lab")
    hardware = {"architecture": "amd64", "cpus": 4, "memory_mib": 4096, "disk_gib": 100, "gpus": 0, "rdma": 0}
    return {
        "name": HOST,
        "site": "lab",
        "address": str(IPv4Network(site.lan)[10]),
        "lan": site.lan,
        "block": site.block,
        "gateways": [str(one) for one in world.fleet.sites["lab"].gateways],
        "kubernetes": BUILT_IN,
        "hardware": hardware,
    }


class Places(NamedTuple):
    """Where probes begin, as `Probe` has it, by region or site; what they are for: its kind and its address."""

    sources: dict[str, str | list[str]]
    targets: list[tuple[str, str]]


@pytest.fixture(scope="module")
def places(cloud: Cloud) -> Iterator[Places]:
    world = current(cloud.fleet)
    cloud.inside(sys.executable, "-c", STAND_UP, json.dumps(host(world)))
    paths = Paths(world.fleet, world.plan)
    vpc, endpoint = json.loads(cloud.python(ENDPOINTS))
    networks = {AWS: vpc}
    targets = [("endpoints", endpoint), ("shares", world.plan.region(AWS).zones["a"].addresses["shares"])]
    for region in (NEAR, FAR):
        place = PROVIDERS.replace(NEAR, region)
        networks[region] = router(f"{place}/virtualNetworks/both-{region}-network")
        found = cloud.azure("GET", f"{place}/networkInterfaces")["value"]
        at = {one["name"]: one["properties"]["ipConfigurations"][0]["properties"] for one in found}
        targets += [
            (what, next(told["privateIPAddress"] for name, told in at.items() if f"{what}-" in name))
            for what in ("blob", "vault", "shares")
        ]
        (end,) = cloud.azure("GET", f"{place}/dnsResolvers/both-{region}-resolver/inboundEndpoints")["value"]
        targets.append(("names", end["properties"]["ipConfigurations"][0]["privateIpAddress"]))
    sources: dict[str, str | list[str]] = {
        region: [network, paths.place(region).address] for region, network in networks.items()
    }
    yield Places({**sources, "lab": HOST}, targets)
    cloud.inside(sys.executable, "-c", f"from local import hosts; hosts.take_down({HOST!r})")


def probe(source: str | list[str], what: str, target: str, port: int, protocol: str = "tcp") -> Probe:
    made = Probe(source=source, target=target, port=port, protocol=protocol)
    # The local Azure answers there, and nobody else has to.
    return {**made, "at": PLATFORM} if what in ("blob", "vault") and (protocol, port) != CLOSED else made


def test_packets_pass_where_the_plan_says_so_and_nowhere_else(cloud: Cloud, places: Places) -> None:
    world = current(cloud.fleet)
    paths = Paths(world.fleet, world.plan)
    said: dict[tuple[str, str, str], bool] = {}
    probes = []
    for source, (what, target) in product(places.sources, places.targets):
        here, there = paths.place(source), paths.place(target)
        for protocol, port in (PORTS[what], CLOSED):
            ways = paths.way(here, there, Port(protocol, port)), paths.way(there, here)
            said[source, f"{what} {target}", f"{protocol}/{port}"] = all(way.arrives for way in ways)
            probes.append(probe(places.sources[source], what, target, port, protocol))
    assert dict(zip(said, packets.passed(cloud, *probes), strict=True)) == said
    assert [of for of in places.sources if any(passes for (source, *_), passes in said.items() if source == of)] == [
        *places.sources
    ]


TUNNELS = """
import json, urllib.request
told = json.loads({told!r})
url = "http://127.0.0.1:5003/landbridge-api/tunnels"
print(urllib.request.urlopen(urllib.request.Request(url, json.dumps(told).encode(), method="PUT")).read().decode())
"""


def test_a_site_reaches_a_region_of_azure_by_that_region_s_tunnels_alone(cloud: Cloud, places: Places) -> None:
    """The other regions' would lead there, too: by the peering, or by AWS."""
    region = current(cloud.fleet).plan.region(FAR).network
    bucket = next(at for what, at in places.targets if what == "blob" and IPv4Address(at) in IPv4Network(region))
    place = f"{PROVIDERS}/connections".replace(NEAR, FAR)
    (one,) = [one for one in cloud.azure("GET", place)["value"] if "lab" in one["name"]]
    told = cloud.azure("GET", one["id"].removeprefix("https://management.azure.com"))
    ends = [each["tunnel"].rpartition("_")[2] for each in told["properties"]["tunnelConnectionStatus"]]

    def reaches() -> bool:
        return packets.passed(cloud, probe(HOST, "blob", bucket, 443)) == [True]

    def states() -> set[str]:
        found = {
            each["tunnel"]: each["state"] for each in cloud.report("links", "check", "--local", code=None)["tunnels"]
        }
        return {found[f"lab/{FAR}/{n}"] for n in (1, 2)}

    assert reaches()
    assert states() == {"up"}
    cloud.python(TUNNELS.format(told=json.dumps([one["id"], dict.fromkeys(ends, "NotConnected")])))
    eventually(lambda: not reaches())
    assert states() == {"down"}
    cloud.python(TUNNELS.format(told=json.dumps([one["id"], {}])))
    eventually(reaches)


def test_destroy_leaves_nothing_in_either_cloud(cloud: Cloud) -> None:
    cloud.run("destroy", "--local", "--yes", "--ignore-protect")
    left = cloud.azure_inventory()
    assert left.keys() <= {
        "Microsoft.KeyVault/locations/deletedVaults",
        "Microsoft.Network/networkWatchers",
        "Microsoft.Resources/resourceGroups",
    }
    assert "both-" not in str(left)
    assert "vpn connections" not in str(cloud.inventory())

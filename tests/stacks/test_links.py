"""The stack of links: its resources against the golden file, where keys are, what hubs tell apart, what a change touches."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.links.connections import connections
from fleet.world import World, current
from tests.support import golden
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
ATTIC = "  attic: {gateways: [192.0.2.20, 192.0.2.21], asn: 65020}\n"
HUBS = """\
import json
found = {}
for region in ("us-west-2", "us-east-1", "eu-west-1"):
    ec2 = client("ec2", region)
    kinds = {one["TransitGatewayAttachmentId"]: one["ResourceType"] for one in ec2.describe_transit_gateway_attachments()["TransitGatewayAttachments"]}
    for table in ec2.describe_transit_gateway_route_tables()["TransitGatewayRouteTables"]:
        asked = {"TransitGatewayRouteTableId": table["TransitGatewayRouteTableId"]}
        named = {tag["Key"]: tag["Value"] for tag in table["Tags"]}["Name"]
        joined = ec2.get_transit_gateway_route_table_associations(**asked)["Associations"]
        told = ec2.get_transit_gateway_route_table_propagations(**asked)["TransitGatewayRouteTablePropagations"]
        routes = ec2.search_transit_gateway_routes(**asked, Filters=[{"Name": "state", "Values": ["active"]}])["Routes"]
        found[named] = {
            "of": sorted(kinds[one["TransitGatewayAttachmentId"]] for one in joined),
            "learns": sorted(kinds[one["TransitGatewayAttachmentId"]] for one in told),
            "routes": {one["DestinationCidrBlock"]: kinds[one["TransitGatewayAttachments"][0]["TransitGatewayAttachmentId"]] for one in routes},
        }
print(json.dumps(found))
"""
KEYS = """\
import json
found = {}
for region in ("us-west-2", "us-east-1", "eu-west-1"):
    secrets = client("secretsmanager", region)
    for connection in client("ec2", region).describe_vpn_connections()["VpnConnections"]:
        named = {tag["Key"]: tag["Value"] for tag in connection["Tags"]}["Name"].removeprefix("example-links-")
        kept = json.loads(secrets.get_secret_value(SecretId=f"example/links/{named}")["SecretString"])
        found[named] = [kept, {t["TunnelInsideCidr"]: t["PreSharedKey"] for t in connection["Options"]["TunnelOptions"]}]
print(json.dumps(found))
"""


def state(cloud: Cloud, stack: str) -> dict[str, Any]:
    return dict(json.loads(text(cloud, stack)))


def text(cloud: Cloud, stack: str) -> str:
    return (cloud.home / f"local/example/state/.pulumi/stacks/landbridge/{stack}.json").read_text()


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


@pytest.fixture
def other(cloud: Cloud, tmp_path: Path) -> Cloud:
    """The same local cloud and state, under a fleet file that a test changes."""
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    return Cloud(cloud.home, tmp_path / "fleet.yaml")


def rewrite(cloud: Cloud, old: str, new: str) -> None:
    was = cloud.fleet.read_text()
    assert was.count(old) == 1
    cloud.fleet.write_text(was.replace(old, new))
    cloud.plan()


def changed(cloud: Cloud, *arguments: str) -> dict[str, int]:
    (stack,) = cloud.report("preview", "--local", "links", *arguments)["stacks"]
    return {verb: count for verb, count in stack["changes"].items() if count}


@pytest.mark.golden
def test_its_resources_are_those_of_the_golden_file(cloud: Cloud) -> None:
    beside = {region: state(cloud, region) for region in REGIONS}
    golden.compare(HERE / "golden/links.yaml", golden.resources(state(cloud, "links"), beside))


def test_every_tunnel_s_key_is_in_its_region_s_secret_and_nowhere_in_the_state(cloud: Cloud, world: World) -> None:
    found, written = json.loads(cloud.python(KEYS)), text(cloud, "links")
    made = {one.name: one for one in connections(world.fleet, world.plan)}
    assert found.keys() == made.keys()
    seen = set()
    for name, (kept, used) in found.items():
        assert used == {tunnel.inside_cidr: kept[tunnel.name] for tunnel in made[name].tunnels}
        seen |= set(kept.values())
    assert len(seen) == 6, "each tunnel has its own"
    assert not [key for key in seen if key in written or key in (HERE / "golden/links.yaml").read_text()]


def test_a_hub_shows_the_region_to_what_comes_in_and_everything_to_the_region_alone(cloud: Cloud, world: World) -> None:
    found = json.loads(cloud.python(HUBS))
    blocks = {region: world.plan.region(region).block for region in REGIONS}
    for region in REGIONS:
        others = {blocks[other]: "peering" for other in REGIONS if other != region}
        inward = {"of": ["peering", "peering", "vpn"], "learns": [], "routes": {blocks[region]: "vpc"}}
        assert found.pop(f"example-{region}-hub-inward") == inward
        assert found.pop(f"example-{region}-hub-outward") == {"of": ["vpc"], "learns": ["vpn"], "routes": others}
    assert found == {}


def test_another_site_touches_no_link_that_is_there(cloud: Cloud, other: Cloud) -> None:
    rewrite(other, "storage:\n", f"{ATTIC}storage:\n")
    grown = changed(other)
    assert grown.keys() == {"created", "same"}, grown
    assert grown["same"] == changed(cloud)["same"]


def test_a_site_that_goes_takes_its_own_links_alone(other: Cloud, world: World) -> None:
    text = other.fleet.read_text()
    begin, end = text.index("sites:\n"), text.index("storage:\n")
    site_pool = text[text.index("  site-gpu:\n") : text.index("  west-gpu:")]
    other.fleet.write_text((text[:begin] + text[end:]).replace(site_pool, ""))
    other.plan()
    gone = changed(other)
    assert gone.keys() == {"deleted", "same"}, gone
    of_sites = [r for r in state(other, "links")["checkpoint"]["latest"]["resources"] if "SiteLink" in r["urn"]]
    assert gone["deleted"] == len(of_sites)


def test_what_would_take_both_tunnels_down_is_refused_unless_asked_for(other: Cloud) -> None:
    before = text(other, "links")
    rewrite(other, "gateways: [192.0.2.10]", "gateways: [192.0.2.99]")
    done = other.run("up", "--local", "--yes", "links", code=None)
    assert done.returncode != 0
    assert "takes both tunnels of us-west-2-lab-1 down at once: it changes customerGatewayId" in done.stderr
    assert "--ignore tunnels" in done.stderr
    assert "Traceback" not in done.stderr
    assert text(other, "links") == before, "nothing was changed"
    assert "us-west-2-lab-1" not in other.run("preview", "--local", "--ignore", "tunnels", "links").stderr

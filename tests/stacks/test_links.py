"""The stack of links: its resources against the golden file, where keys are, what hubs tell apart, what a change touches."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.links.connections import connections
from components.links.gateway import ipsec
from components.links.hub_routes import hub_routes
from components.links.plan import crossings
from fleet.world import World, current
from tests.components.pools.joining_client import eventually
from tests.stacks.test_copies import FAULTS
from tests.support import golden
from tests.support.cloud import COMMAND, ROOT, Cloud

import gateway_verify  # isort: skip
from gateway_state import State, Tunnel  # isort: skip

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
REGIONS, SOUTH = ("us-west-2", "us-east-1", "eu-west-1"), "southcentralus"
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
        if "southcentralus" in named:
            continue  # keys of two clouds are kept nowhere
        kept = json.loads(secrets.get_secret_value(SecretId=f"example/links/{named}")["SecretString"])
        found[named] = [kept, {t["TunnelInsideCidr"]: t["PreSharedKey"] for t in connection["Options"]["TunnelOptions"]}]
print(json.dumps(found))
"""


TELL = """\
import json, urllib.request
asked = urllib.request.Request("http://127.0.0.1:5000/landbridge-api/tunnels", json.dumps({states}).encode(), method="POST")
print(urllib.request.urlopen(asked).read().decode())
"""
ALARMS = """\
import json
found = {}
for region in ("us-west-2", "us-east-1", "eu-west-1"):
    sns, sqs, watch = client("sns", region), client("sqs", region), client("cloudwatch", region)
    topics = [one["TopicArn"] for one in sns.list_topics()["Topics"]]
    alarms = watch.describe_alarms(AlarmNamePrefix="example-links-")["MetricAlarms"]
    found[region] = {"topics": topics, "tell": sorted({(*one["AlarmActions"], *one["OKActions"]) for one in alarms}), "heard": []}
    if not topics:
        continue
    found[region]["mail"] = [one["Endpoint"] for one in sns.list_subscriptions_by_topic(TopicArn=topics[0])["Subscriptions"]]
    queue = sqs.create_queue(QueueName="heard")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sns.subscribe(TopicArn=topics[0], Protocol="sqs", Endpoint=arn)
    for state in ("ALARM", "OK"):
        watch.set_alarm_state(AlarmName=alarms[0]["AlarmName"], StateValue=state, StateReason="a test")
    told = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
    found[region]["heard"] = [json.loads(json.loads(one["Body"])["Message"])["NewStateValue"] for one in told]
    sqs.delete_queue(QueueUrl=queue)
print(json.dumps(found))
"""
DOWN, AGREED, QUIET, WELL = (
    {"keys": keys, "prefixes": prefixes} for keys, prefixes in ((False, None), (True, None), (True, 0), (True, 1))
)


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
    beside = {region: state(cloud, region) for region in (*REGIONS, SOUTH)}
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
        vpns = ["vpn"] * 3  # with the site, and with both instances of Azure's gateway
        inward = {"of": ["peering", "peering", *vpns], "learns": [], "routes": {blocks[region]: "vpc"}}
        # And it is what `landbridge path` goes by.
        planned = {one.cidr for one in hub_routes(world.fleet, world.plan, region) if not one.learned}
        assert planned == {*others, *inward["routes"]}
        assert found.pop(f"example-{region}-hub-inward") == inward
        assert found.pop(f"example-{region}-hub-outward") == {"of": ["vpc"], "learns": vpns, "routes": others}
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


def checked(cloud: Cloud, code: int | None, *words: str) -> dict[str, dict[str, Any]]:
    """The tunnels by name; `code` is the exit code it must have, None where the site may stand or not."""
    told = cloud.report("links", "check", "--local", *words, code=code)
    assert {peer["state"] for peer in told["peerings"]} <= {"available"}
    assert code is None or told["well"] is (code == 0)
    return {one["tunnel"]: one for one in told["tunnels"]}


@pytest.fixture
def standing(cloud: Cloud) -> Iterator[Callable[[], object]]:
    """Has the site stand up, with its gateways: from then on Azure's tunnels are as their ends are."""
    yield lambda: cloud.run("local", "host", "start", "lab", "host-1")
    subprocess.run([COMMAND, "local", "host", "stop", "lab", "host-1"], env=cloud._environment(), check=False)


def test_each_tunnel_is_told_with_what_is_wrong_with_it(cloud: Cloud, standing: Callable[[], object]) -> None:
    first = checked(cloud, 1)
    assert list(first)[:2] == ["lab/us-west-2/1", "lab/us-west-2/2"]
    assert {(one["state"], one["message"]) for one in first.values()} == {("down", "IPSEC IS DOWN")}
    at = {name: one["address"] for name, one in first.items() if SOUTH not in name}
    well = dict.fromkeys(at.values(), WELL)
    mixed = {**well, at["lab/us-west-2/1"]: AGREED, at["lab/us-east-1/1"]: QUIET, at["lab/eu-west-1/1"]: DOWN}
    try:
        cloud.python(TELL.replace("{states}", repr(mixed)))
        standing()
        eventually(lambda: not {one["trouble"] for name, one in checked(cloud, 1).items() if SOUTH in name} - {""})
        said = checked(cloud, 1, "lab")
        sound = [name for name, one in said.items() if not one["trouble"]]
        assert sound == [*(f"lab/{region}/2" for region in REGIONS), f"lab/{SOUTH}/1", f"lab/{SOUTH}/2"]
        assert "BGP does not speak" in said["lab/us-west-2/1"]["trouble"]
        assert "the site tells it nothing" in said["lab/us-east-1/1"]["trouble"]
        assert "no keys agreed" in said["lab/eu-west-1/1"]["trouble"]
        shown = cloud.run("links", "check", "--local", code=1).stdout
        assert "lab/us-west-2/1: both ends have their keys" in shown
        drawn = cloud.report("topology", "--live", "--local")
        assert {one["name"]: one["state"] for one in drawn["tunnels"]} == {n: one["state"] for n, one in said.items()}
        assert {one["state"] for one in drawn["peerings"]} == {"up"}
        assert {one["state"] for one in drawn["crossings"]} == {"up"}
        cloud.python(TELL.replace("{states}", repr(well)))
        assert {one["prefixes"] for name, one in checked(cloud, 0).items() if name in at} == {1}
    finally:
        cloud.python(TELL.replace("{states}", repr(dict.fromkeys(at.values()))))


def crossed(cloud: Cloud) -> dict[str, dict[str, Any]]:
    return {one["tunnel"]: one for one in cloud.report("links", "check", "--local", code=None)["crossings"]}


def test_tunnels_between_clouds_are_told_by_aws_s_word(cloud: Cloud, world: World) -> None:
    first = crossed(cloud)
    assert list(first) == [one.name for one in crossings(world.fleet, world.plan)]
    assert {(one["state"], one["trouble"], one["prefixes"] > 0) for one in first.values()} == {("up", "", True)}
    at = {name: one["address"] for name, one in first.items()}
    silent, mute, empty = (f"us-east-1/{SOUTH}/{number}" for number in (1, 2, 3))
    try:
        cloud.python(TELL.replace("{states}", repr({at[silent]: DOWN, at[mute]: AGREED, at[empty]: QUIET})))
        told = crossed(cloud)
        assert [name for name, one in told.items() if one["trouble"]] == [silent, mute, empty]
        assert f"no keys agreed: `landbridge up links --local --fleet {cloud.fleet}` undoes" in told[silent]["trouble"]
        assert "BGP does not speak" in told[mute]["trouble"]
        assert "tells it nothing" in told[empty]["trouble"]
        shown = cloud.run("links", "check", "--local", code=1).stdout
        assert f"{mute}: both ends have their keys" in shown
        drawn = cloud.report("topology", "--live", "--local")["crossings"]
        assert {one["name"] for one in drawn if one["state"] == "down"} == {silent, mute}
    finally:
        cloud.python(TELL.replace("{states}", repr(dict.fromkeys(at.values()))))


def test_tunnels_that_are_not_built_or_whose_region_is_away_are_told_apart(cloud: Cloud, other: Cloud) -> None:
    rewrite(other, f"  {SOUTH}:\n", f"  westeurope: {{cloud: azure, zones: ['1']}}\n  {SOUTH}:\n")
    new = {name: one for name, one in crossed(other).items() if "/westeurope/" in name}
    assert len(new) == 4 * len(REGIONS)
    assert {one["state"] for one in new.values()} == {"not built"}
    assert {one["trouble"] for one in new.values()} == {f"run `landbridge up links --local --fleet {other.fleet}`"}
    away = {"kind": "outage", "region": "us-east-1"}
    try:
        cloud.python(FAULTS.format(given=[away], method="POST"))
        told = crossed(cloud)
    finally:
        cloud.python(FAULTS.format(given=[], method="POST"))
    assert {one["aws"] for one in told.values() if one["state"] == "not known"} == {"us-east-1"}
    assert all("us-east-1 can't be asked" in one["trouble"] for one in told.values() if one["aws"] == "us-east-1")
    assert {one["trouble"] for one in told.values() if one["aws"] != "us-east-1"} == {""}


def test_a_gateway_s_own_word_names_the_cause_and_what_differs_from_the_plan(cloud: Cloud, tmp_path: Path) -> None:
    (made,) = cloud.report("site", "gateway", "lab", "--local", "--output", str(tmp_path))["gateways"]
    refused = Tunnel("us-west-2-1", "us-west-2", True, "", "", "", 0, 0, 0, 0, "the two ends have different keys")
    state, told = State("lab", "192.0.2.10", made["plan"], (refused,), (), ()), tmp_path / "told.json"
    told.write_text(gateway_verify.document(state))
    said = checked(cloud, 1, "lab", "--gateway", str(told))
    assert said["lab/us-west-2/1"]["trouble"] == "the gateway says that the two ends have different keys"
    assert "the gateway says" not in said["lab/us-west-2/2"]["trouble"]
    changed = State("lab", "192.0.2.10", "0123456789abcdef", (), ("/etc/frr/frr.conf",), ("WRONG CLOCK",))
    told.write_text(gateway_verify.document(changed))
    shown = cloud.run("links", "check", "--local", "--gateway", str(told), code=1).stdout
    assert f"192.0.2.10: what it runs was made from plan 0123456789abcdef, and now it is {made['plan']}: " in shown
    assert "192.0.2.10: somebody changed /etc/frr/frr.conf: write its folder again by" in shown
    assert "192.0.2.10: WRONG CLOCK." in shown
    told.write_text(gateway_verify.document(State("lab", "192.0.2.99", made["plan"], (), (), ())))
    (stranger,) = cloud.report("links", "check", "--local", "--gateway", str(told), code=1)["gateways"]
    assert stranger["drift"] == ["the fleet file has no such gateway: name it there, or take it away"]
    for broken in ("[]", "{", gateway_verify.document(state).replace('"trouble"', '"other"')):
        told.write_text(broken)
        refusal = cloud.run("links", "check", "--local", "--gateway", str(told), code=2).stderr
        assert "told.json is not what `gateway_verify.py --json` prints." in refusal
    missing = cloud.run("links", "check", "--local", "--gateway", str(tmp_path / "none"), code=2).stderr
    assert "none: No such file or directory. Save there what" in missing


def test_the_site_s_gateway_is_written_with_the_keys_of_its_own_tunnels(cloud: Cloud, tmp_path: Path) -> None:
    (made,) = cloud.report("site", "gateway", "lab", "--local", "--output", str(tmp_path))["gateways"]
    folder = Path(made["folder"])
    assert folder == tmp_path / "192.0.2.10"
    assert folder.stat().st_mode & 0o777 == 0o700
    keys = folder / ipsec.SECRETS.lstrip("/")
    assert keys.stat().st_mode & 0o777 == 0o600
    found = json.loads(cloud.python(KEYS))
    for kept, _ in found.values():
        assert all(f'secret = "{key}"' in keys.read_text() for key in kept.values())
    at = {one["tunnel"]: one["address"] for one in checked(cloud, None).values()}
    for name, address in at.items():
        _, region, number = name.split("/")
        text = (folder / f"etc/swanctl/conf.d/{region}-{number}.conf").read_text()
        assert f"remote_addrs = {address}\n" in text
        assert f"plan {made['plan']}." in text.splitlines()[0]
    # Written again it replaces what was there, and nothing that is not ours.
    (folder / "etc/swanctl/conf.d/gone.conf").write_text("")
    cloud.run("site", "gateway", "lab", "--local", "--output", str(tmp_path))
    assert not (folder / "etc/swanctl/conf.d/gone.conf").exists()
    (tmp_path / "mine/192.0.2.10").mkdir(parents=True)
    refused = cloud.run("site", "gateway", "lab", "--local", "--output", str(tmp_path / "mine"), code=2)
    assert "no gateway's folder. Name another place with --output" in refused.stderr


def test_a_site_whose_links_are_not_up_yet_is_sent_there(other: Cloud, tmp_path: Path) -> None:
    rewrite(other, "storage:\n", f"{ATTIC}storage:\n")
    refused = other.run("site", "gateway", "attic", "--local", code=1)
    assert f"Site attic has no link yet. Run `landbridge up links --local --fleet {other.fleet}`." in refused.stderr
    missing = other.run("site", "gateway", "mars", "--local", code=2)
    assert "fleet.yaml has no site mars. Its sites: lab, attic." in missing.stderr
    told = checked(other, 1)
    assert {one["state"] for name, one in told.items() if name.startswith("attic/")} == {"not built"}


ALL = (*REGIONS, SOUTH, "links")
INSIGHTS = "/subscriptions/00000000-0000-4000-8000-00000000000a/resourceGroups/example-southcentralus/providers/Microsoft.Insights"


@pytest.mark.matrix  # two ups of five stacks
def test_alarms_tell_those_whom_the_fleet_file_names_and_nobody_once_it_does_not(cloud: Cloud, other: Cloud) -> None:
    rewrite(other, "clusters:\n", "cloud_alarms: [ops@example.com]\nclusters:\n")
    topics = {region: f"arn:aws:sns:{region}:123456789012:example-alarms" for region in REGIONS}
    try:
        told = other.run("up", "--local", "--yes", *ALL).stdout
        assert "Alarms reach ops@example.com once it has agreed: AWS mails it a link for each of " in told
        for region, one in json.loads(cloud.python(ALARMS)).items():
            arn = topics[region]
            # The keys of the regions let alarms in, and so do the topics.
            heard = {"topics": [arn], "tell": [[arn, arn]], "mail": ["ops@example.com"], "heard": ["ALARM", "OK"]}
            assert one == heard
        group = cloud.azure("GET", f"{INSIGHTS}/actionGroups/example-alarms", version="2022-06-01")
        assert [one["emailAddress"] for one in group["properties"]["emailReceivers"]] == ["ops@example.com"]
        alerts = cloud.azure("GET", f"{INSIGHTS}/metricAlerts", version="2018-03-01")["value"]
        assert {one["properties"]["actions"][0]["actionGroupId"] for one in alerts} == {group["id"]}
        assert not changed(other, "--full").keys() - {"same"}
    finally:
        cloud.run("up", "--local", "--yes", *ALL)
    assert {tuple(one["topics"]) for one in json.loads(cloud.python(ALARMS)).values()} == {()}
    assert not cloud.azure("GET", f"{INSIGHTS}/actionGroups", version="2022-06-01")["value"]

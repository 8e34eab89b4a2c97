"""The role of who reads fleet metrics: its document, and the whole way from a pod's token to an age and a tunnel's
state, and no further.

The token is the real API server's; STS, S3, EC2 and CloudWatch are the local AWS's, which verifies and judges them.
"""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from components.addons.aws import fleet_metrics_role as role
from components.addons.aws import recorder_role
from components.addons.monitoring import fleet_metrics as addon
from components.addons.spec import AddOnsSpec
from components.storage.aws import bucket as storage
from components.tags import Owner
from fleet import fleet_metrics
from landbridge.drill import tested
from landbridge.status import left
from services.fleet_metrics import backups, drift
from services.fleet_metrics.aws.bucket import Bucket
from services.fleet_metrics.aws.images import Region as Images
from services.fleet_metrics.aws.quotas import Region as Quotas
from services.fleet_metrics.aws.shares import Region as Shares
from services.fleet_metrics.aws.tunnels import Region
from services.fleet_metrics.errors import CloudError
from services.fleet_metrics.metrics import Look, Room
from services.fleet_metrics.settings import Backup, Drift, Restores
from tests.components.addons import bed, cloud
from tests.local.aws.conftest import asker
from tests.local.aws.support import image, refused, with_keys
from tests.support import golden
from tests.support.apiserver import Server

WEST, EAST, ASIA = "us-west-2", "us-east-1", "ap-south-1"
HOME, AWAY = (f"example-{region}-123456789012" for region in (WEST, EAST))
STAMP = f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}"
TAKEN = datetime.strptime(STAMP, "%Y-%m-%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
# What lies where, as machines put it there.
OWN = {HOME: f"backups/main/main/{STAMP}-7.db", AWAY: f"copies/us-west-2/main/main/{STAMP}-7.db"}
DRILL = tested.key("main", 7, datetime.fromtimestamp(TAKEN, UTC))
LOOK = left.key("main", "eu-west-1", 2, datetime.fromtimestamp(TAKEN, UTC))
OTHERS = {
    HOME: (
        "",
        "backups/",
        "backups/main",
        "backups/main-2/",
        "copies/",
        "drift/",
        "records/main/",
        "restores/",
        "teams/",
    ),
    AWAY: (
        "",
        "copies/",
        "copies/us-west-2/",
        "copies/us-west-2/other/",
        "backups/main/",
        "drift/main/",
        "restores/main/",
    ),
}
Client = Callable[..., Any]


@pytest.mark.golden
def test_documents(example: AddOnsSpec) -> None:
    made = {"trust": role.trust(example.fleet, "main"), "may": role.permissions(example.fleet, "main")}
    golden.compare(bed.HERE / "golden/fleet-metrics-role.yaml", made)


def test_at_home_in_azure_it_is_told_of_links_and_lists_nothing() -> None:
    fleet = bed.both().fleet
    looks = role.permissions(fleet, "south")["Statement"]
    assert [one["Sid"] for one in looks] == ["Links", "Pools", "Files", "Channels"]
    assert [one["Condition"] for one in looks[:3]] == [{"StringEquals": {"aws:RequestedRegion": [WEST]}}] * 3
    pools = {name: pool for name, pool in fleet.pools.items() if name != "own-west"}
    assert not role.wanted(fleet.model_copy(update={"pools": pools}), "south"), "it has nothing in AWS"


def test_without_a_site_and_another_cloud_there_are_no_links(example: AddOnsSpec) -> None:
    fleet = bed.in_aws(example).fleet
    pools = {name: pool for name, pool in fleet.pools.items() if not pool.site}
    alone = role.permissions(fleet.model_copy(update={"pools": pools}), "main")["Statement"]
    assert [one["Sid"] for one in alone] == [
        "ListHome",
        "ListCopy",
        "ListRestores",
        "ListDrift",
        "Pools",
        "Files",
        "Channels",
    ]


@pytest.fixture(scope="module")
def stored(root: Client, example: AddOnsSpec) -> Iterator[Client]:
    """Root's clients, with both buckets as their regions' stacks make them."""
    for region, bucket in ((WEST, HOME), (EAST, AWAY)):
        s3 = root("s3", region)
        where = {"CreateBucketConfiguration": {"LocationConstraint": region}} if region != EAST else {}
        s3.create_bucket(Bucket=bucket, **where)
        s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps(storage.bucket_policy(example.fleet, region)))
        for key in (OWN[bucket], DRILL, LOOK, "backups/main-2/x", "teams/research/a"):
            s3.put_object(Bucket=bucket, Key=key, Body=b"1")
    yield root
    # Another file's tests make buckets of these names.
    for region, bucket in ((WEST, HOME), (EAST, AWAY)):
        s3 = root("s3", region)
        for one in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
            s3.delete_object(Bucket=bucket, Key=one["Key"])
        s3.delete_bucket(Bucket=bucket)


@pytest.fixture(scope="module")
def as_pod(endpoint: str, stored: Client, installed: Server, example: AddOnsSpec) -> Client:
    """Clients of the pod."""
    name = role.role_name(example.fleet, "main")
    stored("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(role.trust(example.fleet, "main")))
    may = json.dumps(role.permissions(example.fleet, "main"))
    stored("iam").put_role_policy(RoleName=name, PolicyName="looks", PolicyDocument=may)
    token = cloud.token(installed, fleet_metrics.SPACE, fleet_metrics.ACCOUNT)
    keys = cloud.assume(endpoint, role.role_arn(example.fleet, "main"), token)["Credentials"]
    return lambda service, region=WEST: with_keys(endpoint, keys, service, region)


@pytest.fixture(scope="module")
def ends(root: Client, example: AddOnsSpec) -> dict[str, list[str]]:
    """Two connections as the links' stack makes them: by tags Name, public addresses of their tunnels."""
    ec2, found = root("ec2"), dict[str, list[str]]()
    hub = ec2.create_transit_gateway(Description="hub")["TransitGateway"]["TransitGatewayId"]
    for number, name in enumerate(("us-west-2-lab-1", "us-west-2-southcentralus-1", "elsewhere")):
        far = ec2.create_customer_gateway(BgpAsn=65010, PublicIp=f"192.0.2.{number + 10}", Type="ipsec.1")
        tags = Owner("example" if name != "elsewhere" else "other", "platform", "links").tags(name)
        made = ec2.create_vpn_connection(
            Type="ipsec.1",
            CustomerGatewayId=far["CustomerGateway"]["CustomerGatewayId"],
            TransitGatewayId=hub,
            TagSpecifications=[
                {"ResourceType": "vpn-connection", "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}
            ],
        )["VpnConnection"]
        found[tags["Name"]] = [tunnel["OutsideIpAddress"] for tunnel in made["Options"]["TunnelOptions"]]
    return found


def test_it_tells_the_age_of_snapshots_at_home_and_of_their_copies(as_pod: Client, example: AddOnsSpec) -> None:
    told = [Backup(**one) for one in addon.settings(example)["backups"]]
    assert {one.region for one in told} == {WEST, EAST}
    for region, bucket in ((WEST, HOME), (EAST, AWAY)):
        s3, mine = Bucket(bucket, region, as_pod("s3", region)), [one for one in told if one.region == region]
        where = mine[0].where
        assert backups.ages(s3.listed, mine, time.time()) == {("main", where, region): TAKEN}


def test_it_tells_when_a_restore_was_last_tested(as_pod: Client, example: AddOnsSpec) -> None:
    (mine,) = [Restores(**one) for one in addon.settings(example)["restores"]]
    assert mine.into == f"s3://{HOME}"
    s3 = as_pod("s3", WEST)
    assert backups.restored(Bucket(HOME, WEST, s3).listed, [mine], time.time()) == {("main", WEST): TAKEN}
    assert refused(s3.get_object, Bucket=HOME, Key=DRILL) == "AccessDenied"


def test_it_tells_what_the_last_look_at_drift_has_found(as_pod: Client, example: AddOnsSpec) -> None:
    (mine,) = [Drift(**one) for one in addon.settings(example)["drift"]]
    assert mine.into == f"s3://{HOME}"
    s3 = as_pod("s3", WEST)
    assert drift.looks(Bucket(HOME, WEST, s3).listed, mine) == {("eu-west-1",): Look(TAKEN, 2)}
    assert refused(s3.get_object, Bucket=HOME, Key=LOOK) == "AccessDenied"
    assert refused(s3.put_object, Bucket=HOME, Key=LOOK, Body=b"2") == "AccessDenied"


@pytest.mark.parametrize("bucket", [HOME, AWAY])
def test_it_lists_no_more_than_that_and_reads_nothing(bucket: str, as_pod: Client) -> None:
    s3 = as_pod("s3", WEST if bucket == HOME else EAST)
    for prefix in OTHERS[bucket]:
        assert refused(s3.list_objects_v2, Bucket=bucket, Prefix=prefix) == "AccessDenied", prefix
    assert refused(s3.get_object, Bucket=bucket, Key=OWN[bucket]) == "AccessDenied"
    assert refused(s3.put_object, Bucket=bucket, Key=OWN[bucket], Body=b"2") == "AccessDenied"
    assert refused(s3.delete_object, Bucket=bucket, Key=OWN[bucket]) == "AccessDenied"
    with pytest.raises(CloudError, match="AccessDenied"):
        Bucket(bucket, WEST, s3).listed("teams/")


def test_it_is_told_which_part_of_a_connection_s_tunnels_is_up(
    as_pod: Client, ends: dict[str, list[str]], endpoint: str, example: AddOnsSpec
) -> None:
    lab, south = "example-links-us-west-2-lab-1", "example-links-us-west-2-southcentralus-1"
    planned = [one["named"] for one in addon.settings(example)["connections"] if one["region"] == WEST]
    missing = {*planned} - ends.keys()
    assert missing == {"example-links-us-west-2-southcentralus-2"}
    region, own = Region(WEST, as_pod("ec2"), as_pod("cloudwatch")), asker(endpoint)
    up = {"keys": True, "prefixes": 1}
    own("tunnels", {ends[lab][0]: up, ends[south][0]: up, ends[south][1]: up})
    assert region.up(planned, time.time()) == {lab: 0.5, south: 1.0, **dict.fromkeys(missing, 0.0)}
    own("tunnels", {ends[lab][0]: {"keys": True, "prefixes": None}})
    assert region.up([lab], time.time()) == {lab: 0.0}
    # While a connection is new, nothing is told of it.
    assert region.up([lab], time.time() - 3600) == {}


def test_it_sees_no_key_of_a_tunnel_and_asks_in_no_other_region(as_pod: Client, ends: dict[str, list[str]]) -> None:
    assert ends
    assert refused(as_pod("ec2").describe_vpn_connections) == "UnauthorizedOperation"
    with pytest.raises(CloudError, match=f"{ASIA}: .*UnauthorizedOperation"):
        Region(ASIA, as_pod("ec2", ASIA), as_pod("cloudwatch", ASIA)).up(["x"], time.time())


def test_it_is_told_what_was_granted_of_quotas_and_what_is_used(
    as_pod: Client, root: Client, endpoint: str, example: AddOnsSpec
) -> None:
    told = addon.settings(example)["quotas"]
    named = {one["quota"]: one["named"] for one in told if one["region"] == WEST}
    own, region = asker(endpoint), Quotas(WEST, as_pod("service-quotas"), as_pod("cloudwatch"))
    own("quotas", {named["p"]: 192})
    ec2 = root("ec2")
    before = region.told(named.values(), time.time())
    assert before[named["p"]] == (192.0, 0.0)
    ids = [
        ec2.run_instances(ImageId=image(ec2), InstanceType=kind, MinCount=n, MaxCount=n)["Instances"][0]["InstanceId"]
        for kind, n in (("p5.48xlarge", 1), ("m7i.large", 1))
    ]
    assert (
        refused(ec2.run_instances, ImageId=image(ec2), InstanceType="p5.48xlarge", MinCount=1, MaxCount=1)
        == "VcpuLimitExceeded"
    )
    found = region.told(named.values(), time.time())
    assert found[named["p"]] == (192.0, 192.0)
    assert found[named["standard"]].used == before[named["standard"]].used + 2
    ec2.terminate_instances(InstanceIds=ids)
    assert region.told(named.values(), time.time()) == before
    own("quotas", {})
    with pytest.raises(CloudError, match=f"{ASIA}: .*AccessDenied"):
        Quotas(ASIA, as_pod("service-quotas", ASIA), as_pod("cloudwatch", ASIA)).told(["L-417A185B"], time.time())
    assert refused(as_pod("ec2").describe_instances) == "UnauthorizedOperation"


def test_it_is_told_when_images_were_made_that_machines_start_from(
    as_pod: Client, root: Client, example: AddOnsSpec
) -> None:
    rows = {one["pool"]: one for one in addon.settings(example)["images"] if one["region"] == WEST}
    assert rows.keys() == {"west-gpu", "cpu", "system"}
    ec2, ssm, begun = root("ec2"), root("ssm"), time.time()
    machine = ec2.run_instances(ImageId=image(ec2), MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    made = ec2.create_image(InstanceId=machine, Name="gpu")["ImageId"]
    ec2.terminate_instances(InstanceIds=[machine])
    name = rows["west-gpu"]["named"].removeprefix("resolve:ssm:")
    ssm.put_parameter(Name=name, Value=made, Type="String", Overwrite=True)
    region, named = Images(WEST, as_pod("ssm"), as_pod("ec2")), [one["named"] for one in rows.values()]
    ((told, created),) = region.created(named).items()
    assert told == rows["west-gpu"]["named"], "no image stands behind the channel of machines without GPUs"
    assert begun - 1 <= created <= time.time()
    ec2.deregister_image(ImageId=made)
    assert region.created(named) == {}
    assert refused(as_pod("ssm").get_parameter, Name=name) == "AccessDeniedException"
    assert refused(as_pod("ssm").get_parameters, Names=["/example/images/gpu/1.0/stable"]) == "AccessDeniedException"
    with pytest.raises(CloudError, match=f"{ASIA}: .*AccessDenied"):
        Images(ASIA, as_pod("ssm", ASIA), as_pod("ec2", ASIA)).created(named)


def test_it_is_told_what_file_systems_hold_and_sees_none_of_them(
    as_pod: Client, root: Client, endpoint: str, example: AddOnsSpec
) -> None:
    (row,) = [one for one in addon.settings(example)["shares"] if one["region"] == WEST]
    assert (row["share"], row["named"]) == ("", f"fs-{WEST}"), "it has all shares"
    id_ = root("efs").create_file_system(CreationToken="shares")["FileSystemId"]
    own, region = asker(endpoint), Shares(WEST, as_pod("cloudwatch"))
    assert region.room([id_, row["named"]], time.time()) == {id_: Room(0.0, None)}
    own("files", {id_: 7_000_000})
    assert region.room([id_], time.time()) == {id_: Room(7_000_000.0, None)}
    own("files", {})
    root("efs").delete_file_system(FileSystemId=id_)
    assert region.room([id_], time.time()) == {}
    assert refused(as_pod("efs").describe_file_systems).startswith("AccessDenied")
    with pytest.raises(CloudError, match=f"{ASIA}: .*AccessDenied"):
        Shares(ASIA, as_pod("cloudwatch", ASIA)).room([id_], time.time())


@pytest.mark.usefixtures("as_pod")
def test_other_accounts_get_no_such_role_and_it_no_other(endpoint: str, installed: Server, example: AddOnsSpec) -> None:
    mine = role.role_arn(example.fleet, "main")
    for account in ("default", "recorder", "cluster-autoscaler"):
        strange = cloud.token(installed, "kube-system", account)
        assert refused(cloud.assume, endpoint=endpoint, role=mine, web_identity=strange) == "AccessDenied"
    own = cloud.token(installed, fleet_metrics.SPACE, fleet_metrics.ACCOUNT)
    other = recorder_role.role_arn(example.fleet, "main")
    assert refused(cloud.assume, endpoint=endpoint, role=other, web_identity=own) == "AccessDenied"

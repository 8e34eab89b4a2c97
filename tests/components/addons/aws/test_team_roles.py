"""The roles of teams' pods: documents, and the whole way from a service account's token to an object, and no further.

The tokens are the real API server's; STS, S3 and KMS are the local AWS's, which verifies and judges them.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.addons.aws import team_roles
from components.addons.spec import AddOnsSpec
from components.storage.aws import bucket as storage
from fleet import issuers, team_storage
from fleet.model import Fleet, TeamBucket
from tests.components.addons import cloud
from tests.local.aws.support import refused, with_keys
from tests.support import golden
from tests.support.apiserver import Server

HERE = Path(__file__).parent
REGIONS = ("us-west-2", "eu-west-1")
HOME = "example-us-west-2-123456789012"
Client = Callable[..., Any]


def with_buckets(fleet: Fleet, *buckets: TeamBucket) -> Fleet:
    research = fleet.teams["research"].model_copy(update={"buckets": list(buckets)})
    return fleet.model_copy(update={"teams": {**fleet.teams, "research": research}})


@pytest.mark.golden
def test_documents(example: AddOnsSpec) -> None:
    key = "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000"
    fleet = with_buckets(
        example.fleet, TeamBucket(name="corpus", key=key), TeamBucket(name="scratch", write=True, key=key)
    )
    made = {"trust": team_roles.trust(fleet, "main", "research"), "may": team_roles.permissions(fleet, "research")}
    golden.compare(HERE / "golden/team-role.yaml", made)


def test_names_keep_to_iam_s_bound_and_stay_apart(example: AddOnsSpec) -> None:
    names = {team_roles.role_name(example.fleet, "a" * 32, f"team{n}-{'b' * 25}") for n in range(3)}
    assert len(names) == 3
    assert all(len(name) <= 64 for name in names)


def test_the_largest_role_is_one_that_iam_takes(example: AddOnsSpec) -> None:
    """10,240 characters without white space ("IAM and AWS STS quotas"): twelve regions, every bucket allowed."""
    region = example.fleet.regions["us-west-2"]
    keys = [f"arn:aws:kms:ap-southeast-2:123456789012:key/mrk-{n:032}" for n in range(10)]
    buckets = [TeamBucket(name=f"{'b' * 60}{n:02}", write=True, key=key) for n, key in enumerate(keys)]
    fleet = with_buckets(example.fleet, *buckets)
    fleet = fleet.model_copy(update={"regions": {f"ap-southeast-{n}": region for n in range(12)}})
    assert len(json.dumps(team_roles.permissions(fleet, "research"), separators=(",", ":"))) <= 10240


@pytest.fixture(scope="module")
def fleet(example: AddOnsSpec) -> Fleet:
    return with_buckets(example.fleet, TeamBucket(name="corpus"), TeamBucket(name="scratch", write=True))


@pytest.fixture(scope="module")
def client(root: Client, fleet: Fleet) -> Client:
    """Root's clients of a local AWS with what the stacks of regions, cluster and add-ons make of it."""
    make = root
    for region in REGIONS:
        s3, keys, name = make("s3", region), make("kms", region), f"example-{region}-123456789012"
        key = keys.create_key(Policy=json.dumps(storage.key_policy(fleet, region)))["KeyMetadata"]["KeyId"]
        keys.create_alias(AliasName=f"alias/example-{region}", TargetKeyId=key)
        s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": region})
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}}
        s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [rule]})
        s3.put_bucket_policy(Bucket=name, Policy=json.dumps(storage.bucket_policy(fleet, region)))
        for place in (
            *("teams/research/a", "teams/platform/a", "teams/research-two/a", "example/main/a"),
            *("team-records/research/main/a", "team-records/platform/main/a", "records/main/a"),
        ):
            s3.put_object(Bucket=name, Key=place, Body=b"1", ServerSideEncryption="aws:kms", SSEKMSKeyId=key)
    for name in ("corpus", "scratch"):
        make("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        make("s3").put_object(Bucket=name, Key="a", Body=b"1")
    for team in fleet.teams:
        role = team_roles.role_name(fleet, "main", team)
        trust = json.dumps(team_roles.trust(fleet, "main", team))
        make("iam").create_role(RoleName=role, AssumeRolePolicyDocument=trust)
        policy = json.dumps(team_roles.permissions(fleet, team))
        make("iam").put_role_policy(RoleName=role, PolicyName="storage", PolicyDocument=policy)
    return make


@pytest.fixture(scope="module")
def token(installed: Server) -> Callable[..., str]:
    def ask(team: str, account: str = team_storage.ACCOUNT, audience: str = issuers.AUDIENCE) -> str:
        return cloud.token(installed, team_storage.namespace(team), account, audience)

    return ask


@pytest.fixture(scope="module")
def assume(endpoint: str, fleet: Fleet, client: Client) -> Client:
    def ask(team: str, web_identity: str) -> Any:
        return cloud.assume(endpoint, team_roles.role_arn(fleet, "main", team), web_identity)

    return ask


@pytest.fixture(scope="module")
def as_pod(endpoint: str, assume: Client, token: Callable[..., str]) -> Client:
    """Clients of a pod of team research."""
    keys = assume("research", token("research"))["Credentials"]

    def make(service: str, region: str = "us-west-2") -> Any:
        return with_keys(endpoint, keys, service, region)

    return make


@pytest.mark.parametrize("region", REGIONS)
def test_a_pod_has_its_team_s_folder_in_every_region(region: str, as_pod: Client) -> None:
    s3, name = as_pod("s3", region), f"example-{region}-123456789012"
    assert s3.get_object(Bucket=name, Key="teams/research/a")["Body"].read() == b"1"
    s3.put_object(Bucket=name, Key="teams/research/runs/b", Body=b"2")
    listed = s3.list_objects_v2(Bucket=name, Prefix="teams/research/")["Contents"]
    assert sorted(one["Key"] for one in listed) == ["teams/research/a", "teams/research/runs/b"]
    s3.delete_object(Bucket=name, Key="teams/research/runs/b")


def test_a_pod_reads_what_was_recorded_of_its_team_and_writes_none_of_it(as_pod: Client) -> None:
    s3, key = as_pod("s3"), "team-records/research/main/a"
    assert s3.get_object(Bucket=HOME, Key=key)["Body"].read() == b"1"
    assert s3.list_objects_v2(Bucket=HOME, Prefix="team-records/research/")["KeyCount"] == 1
    assert refused(s3.put_object, Bucket=HOME, Key=key, Body=b"2") == "AccessDenied"
    assert refused(s3.delete_object, Bucket=HOME, Key=key) == "AccessDenied"
    assert refused(s3.list_objects_v2, Bucket=HOME, Prefix="team-records/") == "AccessDenied"


OTHERS = [
    "teams/platform/a",
    "teams/research-two/a",
    "example/main/a",
    "team-records/platform/main/a",
    "records/main/a",
]


@pytest.mark.parametrize("key", OTHERS)
def test_a_pod_has_nothing_else_of_the_fleet_bucket(key: str, as_pod: Client) -> None:
    s3 = as_pod("s3")
    assert refused(s3.get_object, Bucket=HOME, Key=key) == "AccessDenied"
    assert refused(s3.put_object, Bucket=HOME, Key=key, Body=b"2") == "AccessDenied"
    assert refused(s3.delete_object, Bucket=HOME, Key=key) == "AccessDenied"
    copied = f"{HOME}/{key}"
    assert refused(s3.copy_object, Bucket=HOME, Key="teams/research/c", CopySource=copied) == "AccessDenied"


def test_a_pod_lists_no_more_than_its_folder(as_pod: Client) -> None:
    for prefix in ("", "teams/", "teams/research", "teams/platform/", "example/"):
        assert refused(as_pod("s3").list_objects_v2, Bucket=HOME, Prefix=prefix) == "AccessDenied", prefix
    assert refused(as_pod("s3").list_buckets) == "AccessDenied"


def test_the_key_is_used_by_s3_for_the_pod_and_never_by_the_pod(as_pod: Client, client: Client) -> None:
    key = client("kms").describe_key(KeyId="alias/example-us-west-2")["KeyMetadata"]["KeyId"]
    assert refused(as_pod("kms").generate_data_key, KeyId=key, KeySpec="AES_256") == "AccessDeniedException"
    text = client("kms").encrypt(KeyId=key, Plaintext=b"x")["CiphertextBlob"]
    assert refused(as_pod("kms").decrypt, CiphertextBlob=text) == "AccessDeniedException"
    other = client("kms").create_key(Policy=client("kms").get_key_policy(KeyId=key, PolicyName="default")["Policy"])
    wanted = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": other["KeyMetadata"]["Arn"]}
    # Another key of the account, even within the folder: whoever has that one would hold the team's data.
    assert refused(as_pod("s3").put_object, Bucket=HOME, Key="teams/research/d", Body=b"2", **wanted) == "AccessDenied"


def test_added_buckets_are_read_and_written_only_where_the_fleet_says_so(as_pod: Client) -> None:
    s3 = as_pod("s3")
    for name in ("corpus", "scratch"):
        assert s3.get_object(Bucket=name, Key="a")["Body"].read() == b"1"
        assert s3.list_objects_v2(Bucket=name)["KeyCount"] == 1
    assert refused(s3.put_object, Bucket="corpus", Key="b", Body=b"2") == "AccessDenied"
    s3.put_object(Bucket="scratch", Key="b", Body=b"2")
    s3.delete_object(Bucket="scratch", Key="b")


def test_another_team_another_account_and_another_audience_are_refused(
    assume: Client, token: Callable[..., str]
) -> None:
    assert assume("platform", token("platform"))["SubjectFromWebIdentityToken"] == team_storage.subject("platform")
    assert refused(assume, team="research", web_identity=token("platform")) == "AccessDenied"
    assert refused(assume, team="research", web_identity=token("research", "default")) == "AccessDenied"
    for audience in ("https://kubernetes.default.svc", "sts.example.com"):
        strange = token("research", audience=audience)
        assert refused(assume, team="research", web_identity=strange) == "InvalidIdentityToken"

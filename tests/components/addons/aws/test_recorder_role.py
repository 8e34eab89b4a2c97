"""The recorder's role: its document, and the whole way from a pod's token to an object, and no further.

The token is the real API server's; STS, S3 and KMS are the local AWS's, which verifies and judges them.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from components.addons.aws import recorder_role, team_roles
from components.addons.spec import AddOnsSpec
from components.storage.aws import bucket as storage
from fleet import recorder, team_storage
from services.recorder.aws.store import Bucket
from tests.components.addons import bed, cloud
from tests.local.aws.support import refused, with_keys
from tests.services.recorder import stores
from tests.support import golden
from tests.support.apiserver import Server

WEST, EU = "us-west-2", "eu-west-1"
HOME, AWAY = (f"example-{region}-123456789012" for region in (WEST, EU))
OWN = ("records/main/2026-11-29/a", "team-records/research/main/2026-11-29/a", "team-records/platform/main/x/a")
AUDIT = "audit/main/main-api-1/a"
OTHERS = (
    "records/other/a",
    "records/main-2/a",
    "team-records/research/other/a",
    "audit/other/a",
    "teams/research/a",
    "example/main/a",
    "backups/main/a",
)
Client = Callable[..., Any]


@pytest.mark.golden
def test_documents(example: AddOnsSpec) -> None:
    made = {
        "trust": recorder_role.trust(example.fleet, "main"),
        "may": recorder_role.permissions(example.fleet, "main"),
    }
    golden.compare(bed.HERE / "golden/recorder-role.yaml", made)


def test_it_is_as_long_whatever_the_number_of_teams(example: AddOnsSpec) -> None:
    team = example.fleet.teams["research"]
    many = example.fleet.model_copy(update={"teams": {f"team-{n}": team for n in range(500)}})
    assert recorder_role.permissions(many, "main") == recorder_role.permissions(example.fleet, "main")


def test_at_home_in_azure_it_looks_at_what_became_of_machines_and_writes_nothing() -> None:
    fleet = bed.both().fleet
    assert recorder_role.wanted(fleet, "south")
    (looks,) = recorder_role.permissions(fleet, "south")["Statement"]
    assert (looks["Sid"], looks["Action"]) == ("Machines", recorder_role.DESCRIBE)
    assert looks["Condition"] == {"StringEquals": {"aws:RequestedRegion": ["us-west-2"]}}
    pools = {name: pool for name, pool in fleet.pools.items() if name != "own-west"}
    assert not recorder_role.wanted(fleet.model_copy(update={"pools": pools}), "south")
    assert recorder_role.wanted(fleet.model_copy(update={"pools": pools}), "main")


@pytest.fixture(scope="module")
def stored(root: Client, example: AddOnsSpec) -> Iterator[Client]:
    """Root's clients, with two regions' buckets as their stacks make them."""
    for region, bucket in ((WEST, HOME), (EU, AWAY)):
        s3, keys = root("s3", region), root("kms", region)
        key = keys.create_key(Policy=json.dumps(storage.key_policy(example.fleet, region)))["KeyMetadata"]["KeyId"]
        keys.create_alias(AliasName=f"alias/example-{region}", TargetKeyId=key)
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": region})
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}}
        s3.put_bucket_encryption(Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})
        s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps(storage.bucket_policy(example.fleet, region)))
        for name in (*OWN, AUDIT, *OTHERS):
            s3.put_object(Bucket=bucket, Key=name, Body=b"1")
    yield root
    # Another file's tests make buckets of these names.
    for region, bucket in ((WEST, HOME), (EU, AWAY)):
        s3 = root("s3", region)
        for one in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
            s3.delete_object(Bucket=bucket, Key=one["Key"])
        s3.delete_bucket(Bucket=bucket)
        root("kms", region).delete_alias(AliasName=f"alias/example-{region}")


@pytest.fixture(scope="module")
def as_pod(endpoint: str, stored: Client, installed: Server, example: AddOnsSpec) -> Client:
    """Clients of the recorder's pod."""
    role = recorder_role.role_name(example.fleet, "main")
    trust = json.dumps(recorder_role.trust(example.fleet, "main"))
    stored("iam").create_role(RoleName=role, AssumeRolePolicyDocument=trust)
    may = json.dumps(recorder_role.permissions(example.fleet, "main"))
    stored("iam").put_role_policy(RoleName=role, PolicyName="records", PolicyDocument=may)
    token = cloud.token(installed, recorder.SPACE, recorder.ACCOUNT)
    keys = cloud.assume(endpoint, recorder_role.role_arn(example.fleet, "main"), token)["Credentials"]

    def make(service: str, region: str = WEST) -> Any:
        return with_keys(endpoint, keys, service, region)

    return make


@pytest.mark.parametrize("key", OWN)
def test_it_keeps_the_records_of_its_cluster(key: str, as_pod: Client) -> None:
    s3 = as_pod("s3")
    assert s3.get_object(Bucket=HOME, Key=key)["Body"].read() == b"1"
    s3.put_object(Bucket=HOME, Key=f"{key}-2", Body=b"2")
    folder = key.rpartition("/")[0] + "/"
    assert [one["Key"] for one in s3.list_objects_v2(Bucket=HOME, Prefix=folder)["Contents"]] == [key, f"{key}-2"]
    s3.delete_object(Bucket=HOME, Key=f"{key}-2")


def test_its_program_s_own_calls_are_taken(as_pod: Client) -> None:
    stores.keeps(Bucket(HOME, as_pod("s3")), "team-records/platform/main/", "teams/research/")


def test_it_reads_the_audit_log_of_its_cluster_and_changes_none_of_it(as_pod: Client) -> None:
    s3 = as_pod("s3")
    assert s3.get_object(Bucket=HOME, Key=AUDIT)["Body"].read() == b"1"
    assert s3.list_objects_v2(Bucket=HOME, Prefix="audit/main/")["KeyCount"] == 1
    assert refused(s3.put_object, Bucket=HOME, Key=AUDIT, Body=b"2") == "AccessDenied"
    assert refused(s3.delete_object, Bucket=HOME, Key=AUDIT) == "AccessDenied"


@pytest.mark.parametrize("key", OTHERS)
def test_it_has_nothing_else_of_the_bucket(key: str, as_pod: Client) -> None:
    s3 = as_pod("s3")
    assert refused(s3.get_object, Bucket=HOME, Key=key) == "AccessDenied"
    assert refused(s3.put_object, Bucket=HOME, Key=key, Body=b"2") == "AccessDenied"
    assert refused(s3.delete_object, Bucket=HOME, Key=key) == "AccessDenied"


def test_it_lists_no_more_than_that_and_has_no_other_region_s_bucket(as_pod: Client) -> None:
    for prefix in ("", "records/", "team-records/", "team-records/research/", "audit/", "teams/research/"):
        assert refused(as_pod("s3").list_objects_v2, Bucket=HOME, Prefix=prefix) == "AccessDenied", prefix
    away = as_pod("s3", EU)
    assert refused(away.get_object, Bucket=AWAY, Key=OWN[0]) == "AccessDenied"
    assert refused(away.put_object, Bucket=AWAY, Key=OWN[0], Body=b"2") == "AccessDenied"


def test_the_key_is_used_by_s3_for_it_and_never_by_itself(as_pod: Client, stored: Client) -> None:
    key = stored("kms").describe_key(KeyId=f"alias/example-{WEST}")["KeyMetadata"]["KeyId"]
    assert refused(as_pod("kms").generate_data_key, KeyId=key, KeySpec="AES_256") == "AccessDeniedException"


def test_other_accounts_get_no_such_role(as_pod: Client, endpoint: str, installed: Server, example: AddOnsSpec) -> None:
    role = recorder_role.role_arn(example.fleet, "main")
    for space, account in (
        ("kube-system", "default"),
        ("kube-system", "cluster-autoscaler"),
        (team_storage.namespace("research"), team_storage.ACCOUNT),
    ):
        strange = cloud.token(installed, space, account)
        assert refused(cloud.assume, endpoint=endpoint, role=role, web_identity=strange) == "AccessDenied"
    own = cloud.token(installed, recorder.SPACE, recorder.ACCOUNT)
    teams = team_roles.role_arn(example.fleet, "main", "research")
    assert refused(cloud.assume, endpoint=endpoint, role=teams, web_identity=own) == "AccessDenied"

"""Policies are honoured with their conditions: buckets' for everybody, roles' for whoever has their credentials."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.local.aws.support import refused, with_keys

Client = Callable[..., Any]
PLAIN = {"X-Forwarded-Proto": "http"}
REGION = "eu-central-1"
ACCOUNT = "123456789012"
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"},
        ],
    }
)


def statement(effect: str, action: Any, resource: Any, condition: Any = None, **more: Any) -> dict[str, Any]:
    made = {"Effect": effect, "Action": action, "Resource": resource, **more}
    return made | ({"Condition": condition} if condition else {})


def document(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.fixture(scope="module", autouse=True)
def emptied(client: Client) -> Iterator[None]:
    """Tests of the inventory want nothing of others in there."""
    yield
    s3 = client("s3", REGION)
    for name in ("guarded", "sealed"):
        for found in s3.list_objects_v2(Bucket=name).get("Contents", []):
            s3.delete_object(Bucket=name, Key=found["Key"])
        s3.delete_bucket(Bucket=name)


@pytest.fixture(scope="module")
def bucket(client: Client) -> str:
    """As the fleet bucket: TLS only, and no other encryption than KMS's."""
    s3, name = client("s3", REGION), "guarded"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    arn = f"arn:aws:s3:::{name}"
    everybody = {"Principal": "*"}
    insecure = {"Bool": {"aws:SecureTransport": "false"}}
    other = {
        "Null": {"s3:x-amz-server-side-encryption": "false"},
        "StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"},
    }
    policy = document(
        statement("Deny", "s3:*", [arn, f"{arn}/*"], insecure, **everybody),
        statement("Deny", "s3:PutObject", f"{arn}/*", other, **everybody),
        statement("Deny", "s3:GetObject", f"{arn}/strange/*", {"Strange": {"aws:userid": "x"}}, **everybody),
        statement("Allow", "s3:GetObject", f"{arn}/public/*", **everybody),
        statement("Allow", "s3:GetObject", f"{arn}/odd/*", {"Bool": {"aws:NeverHeardOf": "true"}}, **everybody),
    )
    s3.put_bucket_policy(Bucket=name, Policy=policy)
    return name


@pytest.fixture(scope="module")
def as_role(endpoint: str, client: Client) -> Client:
    """Clients of a role that has been given these statements."""

    def make(name: str, *statements: dict[str, Any], service: str = "s3", **session: Any) -> Any:
        iam = client("iam")
        if name not in [role["RoleName"] for role in iam.list_roles()["Roles"]]:
            iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)
        iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=document(*statements))
        arn = f"arn:aws:iam::{ACCOUNT}:role/{name}"
        given = client("sts", REGION).assume_role(RoleArn=arn, RoleSessionName="i-0abc", **session)["Credentials"]
        return with_keys(endpoint, given, service, REGION)

    return make


def test_a_denial_with_a_condition_denies_only_where_that_holds(client: Client, bucket: str) -> None:
    s3 = client("s3", REGION)
    s3.put_object(Bucket=bucket, Key="a", Body=b"1")
    s3.put_object(Bucket=bucket, Key="a", Body=b"2", ServerSideEncryption="aws:kms")
    assert s3.get_object(Bucket=bucket, Key="a")["Body"].read() == b"2"
    assert refused(s3.put_object, Bucket=bucket, Key="a", Body=b"3", ServerSideEncryption="AES256") == "AccessDenied"
    assert refused(s3.put_object, Bucket=bucket, Key="new", Body=b"3", ServerSideEncryption="AES256") == "AccessDenied"
    assert s3.get_object(Bucket=bucket, Key="a")["Body"].read() == b"2"


def test_what_comes_without_tls_is_denied(client: Client, bucket: str) -> None:
    s3 = client("s3", REGION)
    s3.put_object(Bucket=bucket, Key="a", Body=b"1")
    s3.meta.events.register("before-send.s3", lambda request, **_: request.headers.update(PLAIN))
    assert refused(s3.get_object, Bucket=bucket, Key="a") == "AccessDenied"
    assert refused(s3.list_objects_v2, Bucket=bucket) == "AccessDenied"


def test_a_condition_that_is_unknown_denies_and_never_allows(client: Client, bucket: str, as_role: Client) -> None:
    s3 = client("s3", REGION)
    for key in ("strange/a", "odd/a", "public/a"):
        s3.put_object(Bucket=bucket, Key=key, Body=b"1")
    assert refused(s3.get_object, Bucket=bucket, Key="strange/a") == "AccessDenied"
    nobody = as_role("without-anything", statement("Allow", "ec2:DescribeVpcs", "*"))
    assert refused(nobody.get_object, Bucket=bucket, Key="odd/a") == "AccessDenied"
    assert nobody.get_object(Bucket=bucket, Key="public/a")["Body"].read() == b"1"


def test_nobody_reads_only_what_is_public(endpoint: str, client: Client, bucket: str) -> None:
    for key in ("public/b", "private/b"):
        client("s3", REGION).put_object(Bucket=bucket, Key=key, Body=b"1")
    with urllib.request.urlopen(f"{endpoint}/{bucket}/public/b") as answer:
        assert answer.read() == b"1"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{endpoint}/{bucket}/private/b")


def test_a_role_reads_and_writes_just_its_own(client: Client, bucket: str, as_role: Client) -> None:
    root, arn = client("s3", REGION), f"arn:aws:s3:::{bucket}"
    own = as_role("own-objects", statement("Allow", ["s3:GetObject", "s3:PutObject"], f"{arn}/own/*"))
    for key in ("own/a", "other/a"):
        root.put_object(Bucket=bucket, Key=key, Body=b"1")
    assert own.get_object(Bucket=bucket, Key="own/a")["Body"].read() == b"1"
    own.put_object(Bucket=bucket, Key="own/b", Body=b"x" * 100)
    assert refused(own.get_object, Bucket=bucket, Key="other/a") == "AccessDenied"
    assert refused(own.put_object, Bucket=bucket, Key="other/b", Body=b"1") == "AccessDenied"
    assert refused(own.list_objects_v2, Bucket=bucket, Prefix="own/") == "AccessDenied"
    assert refused(own.delete_objects, Bucket=bucket, Delete={"Objects": [{"Key": "own/a"}]}) == "AccessDenied"
    assert refused(own.copy_object, Bucket=bucket, Key="own/c", CopySource=f"{bucket}/other/a") == "AccessDenied"


def test_a_deleted_object_is_not_found_and_its_versions_are(client: Client, as_role: Client) -> None:
    root, name = client("s3", REGION), "versioned"
    root.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    root.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    arn = f"arn:aws:s3:::{name}"
    reads = statement("Allow", ["s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket"], [arn, f"{arn}/*"])
    reader = as_role("own-versions", reads)
    version = root.put_object(Bucket=name, Key="a", Body=b"1")["VersionId"]
    mark = root.delete_object(Bucket=name, Key="a")["VersionId"]
    for s3 in (root, reader):
        assert refused(s3.get_object, Bucket=name, Key="a") == "NoSuchKey"
        assert refused(s3.head_object, Bucket=name, Key="a") == "404"
        assert s3.get_object(Bucket=name, Key="a", VersionId=version)["Body"].read() == b"1"
    for one in (version, mark):
        root.delete_object(Bucket=name, Key="a", VersionId=one)
    root.delete_bucket(Bucket=name)


def test_a_prefix_can_be_a_condition_of_listing(bucket: str, as_role: Client) -> None:
    only = {"StringLike": {"s3:prefix": "own/*"}}
    own = as_role("own-list", statement("Allow", "s3:ListBucket", f"arn:aws:s3:::{bucket}", only))
    own.list_objects_v2(Bucket=bucket, Prefix="own/x")
    assert refused(own.list_objects_v2, Bucket=bucket, Prefix="other/") == "AccessDenied"
    assert refused(own.list_objects_v2, Bucket=bucket) == "AccessDenied"


def test_a_bucket_may_stand_in_the_name_of_the_host(endpoint: str, bucket: str, as_role: Client) -> None:
    """As SDKs ask where S3 has its own name."""
    only = {"StringLike": {"s3:prefix": "own/*"}}
    own = as_role("own-host", statement("Allow", "s3:ListBucket", f"arn:aws:s3:::{bucket}", only))
    keys = own._request_signer._credentials
    named = boto3.client(
        "s3",
        region_name=REGION,
        endpoint_url=f"http://s3.{REGION}.amazonaws.com",
        aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key,
        aws_session_token=keys.token,
        config=Config(s3={"addressing_style": "virtual"}, retries={"total_max_attempts": 1}),
    )

    def moved(request: Any, **_: Any) -> None:
        host = f"{bucket}.s3.{REGION}.amazonaws.com"
        request.headers["Host"] = host
        request.url = request.url.replace(f"http://{host}", endpoint)

    named.meta.events.register("before-send.s3", moved)
    named.list_objects_v2(Bucket=bucket, Prefix="own/x")
    assert refused(named.list_objects_v2, Bucket=bucket, Prefix="other/") == "AccessDenied"


def test_a_secret_is_read_only_by_its_own_role(client: Client, as_role: Client) -> None:
    made = client("secretsmanager", REGION)
    mine = made.create_secret(Name="f/c/a", SecretString="A")["ARN"]
    made.create_secret(Name="f/c/b", SecretString="B")
    own = as_role("own-secret", statement("Allow", "secretsmanager:GetSecretValue", mine), service="secretsmanager")
    assert own.get_secret_value(SecretId="f/c/a")["SecretString"] == "A"
    assert own.get_secret_value(SecretId=mine)["SecretString"] == "A"
    assert refused(own.get_secret_value, SecretId="f/c/b") == "AccessDeniedException"
    assert refused(own.get_secret_value, SecretId="missing") == "AccessDeniedException"
    assert refused(own.list_secrets) == "AccessDeniedException"


def test_an_encrypted_object_needs_the_key_too(client: Client, as_role: Client) -> None:
    s3, name = client("s3", REGION), "sealed"
    key = client("kms", REGION).create_key()["KeyMetadata"]["Arn"]
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket=name, Key="a", Body=b"1", ServerSideEncryption="aws:kms", SSEKMSKeyId=key)
    reads = statement("Allow", "s3:GetObject", f"arn:aws:s3:::{name}/*")
    assert refused(as_role("no-key", reads).get_object, Bucket=name, Key="a") == "AccessDenied"
    with_key = as_role("with-key", reads, statement("Allow", "kms:Decrypt", key))
    assert with_key.get_object(Bucket=name, Key="a")["Body"].read() == b"1"
    via = {"StringEquals": {"kms:ViaService": "ec2.eu-central-1.amazonaws.com"}}
    elsewhere = as_role("key-elsewhere", reads, statement("Allow", "kms:Decrypt", key, via))
    assert refused(elsewhere.get_object, Bucket=name, Key="a") == "AccessDenied"


def test_a_secret_s_policy_binds_root_too(client: Client) -> None:
    made = client("secretsmanager", REGION)
    made.create_secret(Name="f/c/closed", SecretString="A")
    deny = statement("Deny", "secretsmanager:GetSecretValue", "*", Principal="*")
    made.put_resource_policy(SecretId="f/c/closed", ResourcePolicy=document(deny))
    assert refused(made.get_secret_value, SecretId="f/c/closed") == "AccessDeniedException"
    assert made.describe_secret(SecretId="f/c/closed")["Name"] == "f/c/closed"


def test_root_uses_a_key_only_as_its_policy_says(client: Client) -> None:
    keys, secrets = client("kms", REGION), client("secretsmanager", REGION)
    root = {"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}}
    denied = document(statement("Allow", "kms:*", "*", **root), statement("Deny", "kms:Decrypt", "*", **root))
    unnamed = document(statement("Allow", "kms:*", "*", Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:role/other"}))
    for policy in (denied, unnamed):
        key = keys.create_key()["KeyMetadata"]["Arn"]
        text = keys.encrypt(KeyId=key, Plaintext=b"x")["CiphertextBlob"]
        made = secrets.create_secret(Name=f"under/{key[-4:]}", SecretString="A", KmsKeyId=key)["ARN"]
        assert secrets.get_secret_value(SecretId=made)["SecretString"] == "A"
        keys.put_key_policy(KeyId=key, PolicyName="default", Policy=policy)
        assert refused(keys.decrypt, CiphertextBlob=text) == "AccessDeniedException"
        assert refused(secrets.get_secret_value, SecretId=made) == "AccessDeniedException"


def test_volumes_are_told_apart_by_their_tags(client: Client, as_role: Client) -> None:
    ec2 = client("ec2", REGION)
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    machine = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"][0]
    zone, instance = machine["Placement"]["AvailabilityZone"], machine["InstanceId"]

    def volume(owner: str) -> str:
        tags = [{"ResourceType": "volume", "Tags": [{"Key": "landbridge:machine", "Value": owner}]}]
        return str(ec2.create_volume(AvailabilityZone=zone, Size=1, TagSpecifications=tags)["VolumeId"])

    mine, theirs = volume("a"), volume("b")
    arn = f"arn:aws:ec2:{REGION}:{ACCOUNT}"
    tagged = {"StringEquals": {"aws:ResourceTag/landbridge:machine": "a"}}
    own = as_role(
        "own-volume",
        statement("Allow", "ec2:DescribeVolumes", "*"),
        statement("Allow", "ec2:AttachVolume", f"{arn}:volume/*", tagged),
        statement("Allow", "ec2:AttachVolume", f"{arn}:instance/*"),
        service="ec2",
    )
    assert len(own.describe_volumes(VolumeIds=[mine, theirs])["Volumes"]) == 2
    assert (
        refused(own.attach_volume, VolumeId=theirs, InstanceId=instance, Device="/dev/sdf") == "UnauthorizedOperation"
    )
    own.attach_volume(VolumeId=mine, InstanceId=instance, Device="/dev/sdf")
    assert refused(own.detach_volume, VolumeId=mine) == "UnauthorizedOperation"
    assert refused(own.describe_instances) == "UnauthorizedOperation"


def test_an_explicit_denial_beats_what_allows(bucket: str, as_role: Client) -> None:
    everything = statement("Allow", "*", "*")
    not_this = statement("Deny", "s3:GetObject", "*", {"StringEquals": {"aws:PrincipalType": "AssumedRole"}})
    own = as_role("denied", everything, not_this)
    own.list_objects_v2(Bucket=bucket)
    assert refused(own.get_object, Bucket=bucket, Key="a") == "AccessDenied"


def test_credentials_that_are_forged_or_old_are_refused(client: Client, own: Any, bucket: str, as_role: Client) -> None:
    everything = statement("Allow", "*", "*")
    good = as_role("all", everything, service="sts")
    assert good.get_caller_identity()["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/all/i-0abc"
    frozen = good._request_signer._credentials.get_frozen_credentials()
    make = {"region_name": REGION, "endpoint_url": good.meta.endpoint_url}

    def forged(service: str, secret: str, token: str) -> Any:
        keys = {"aws_access_key_id": frozen.access_key, "aws_secret_access_key": secret, "aws_session_token": token}
        return boto3.client(service, **make, **keys, config=Config(retries={"total_max_attempts": 1}))

    s3 = forged("s3", "wrong", frozen.token)
    assert refused(s3.get_object, Bucket=bucket, Key="a") == "SignatureDoesNotMatch"
    assert refused(forged("s3", frozen.secret_key, "wrong").get_object, Bucket=bucket, Key="a") == "InvalidAccessKeyId"
    assert refused(forged("ec2", frozen.secret_key, "wrong").describe_vpcs) == "AuthFailure"
    own("clock", {"advance": 3700})
    assert refused(forged("sts", frozen.secret_key, frozen.token).get_caller_identity) == "ExpiredToken"

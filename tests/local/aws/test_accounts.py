"""Any account of AWS is there for whoever signs as its owner, and each sees what is its own."""

import json
import urllib.request
from typing import Any

import boto3
import pytest

from local.environment import ACCESS_KEY, signing_in

ONE, OTHER = "012345678901", "210987654321"


def client(endpoint: str, service: str, account: str | None) -> Any:
    key = signing_in(account, None)["AWS_ACCESS_KEY_ID"] if account else "local"
    return boto3.client(
        service,
        region_name="us-west-2",
        endpoint_url=endpoint,
        aws_access_key_id=key,
        aws_secret_access_key="local",
    )


@pytest.mark.parametrize("account", [ONE, OTHER])
def test_who_signs_with_an_account_s_key_is_its_owner(endpoint: str, account: str) -> None:
    told = client(endpoint, "sts", account).get_caller_identity()
    assert told["Account"] == account


def test_what_is_one_s_another_does_not_see(endpoint: str) -> None:
    made = client(endpoint, "ec2", ONE).create_vpc(CidrBlock="10.99.0.0/16")["Vpc"]
    assert made["OwnerId"] == ONE

    def seen(account: str | None) -> list[str]:
        return [one["VpcId"] for one in client(endpoint, "ec2", account).describe_vpcs()["Vpcs"]]

    assert made["VpcId"] in seen(ONE)
    assert made["VpcId"] not in seen(OTHER)
    assert made["VpcId"] not in seen(None)


def test_a_role_s_session_is_its_account_s(endpoint: str) -> None:
    anybody = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "*"}}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [anybody]})
    role = client(endpoint, "iam", ONE).create_role(RoleName="machine", AssumeRolePolicyDocument=trust)["Role"]
    assert role["Arn"].split(":")[4] == ONE
    given = client(endpoint, "sts", ONE).assume_role(RoleArn=role["Arn"], RoleSessionName="one")["Credentials"]
    own = boto3.client(
        "sts",
        region_name="us-west-2",
        endpoint_url=endpoint,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )
    assert own.get_caller_identity()["Account"] == ONE


def test_an_address_that_an_owner_has_signed_is_the_owner_s(endpoint: str) -> None:
    store = client(endpoint, "s3", ONE)
    store.create_bucket(Bucket="of-one", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    store.put_object(Bucket="of-one", Key="word", Body=b"open")
    url = store.generate_presigned_url("get_object", {"Bucket": "of-one", "Key": "word"})
    assert ACCESS_KEY.format(account=ONE) in url
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert answer.read() == b"open"


def test_what_everybody_may_read_of_any_account_is_read_unsigned(endpoint: str) -> None:
    store = client(endpoint, "s3", ONE)
    store.create_bucket(Bucket="keys-of-one", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    anybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::keys-of-one/*"}
    store.put_bucket_policy(Bucket="keys-of-one", Policy=json.dumps({"Version": "2012-10-17", "Statement": [anybody]}))
    store.put_object(Bucket="keys-of-one", Key="jwks.json", Body=b"{}")
    with urllib.request.urlopen(f"{endpoint}/keys-of-one/jwks.json", timeout=10) as answer:
        assert answer.read() == b"{}"

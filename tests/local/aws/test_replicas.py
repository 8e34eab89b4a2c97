"""Replicas of secrets: under a key of their own region, read only, and secrets of their own once promoted."""

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from .support import refused

Client = Callable[..., Any]
HOME, OTHER = "us-west-2", "eu-central-1"
ON_A_REPLICA = "Operation not permitted on a replica secret. Call must be made in primary secret's region."


@pytest.fixture(scope="module")
def key(client: Client) -> str:
    return str(client("kms", OTHER).create_key()["KeyMetadata"]["Arn"])


@pytest.fixture
def home(client: Client) -> Any:
    return client("secretsmanager", HOME)


@pytest.fixture
def other(client: Client) -> Any:
    return client("secretsmanager", OTHER)


def replicated(home: Any, name: str, key: str) -> str:
    wish = [{"Region": OTHER, "KmsKeyId": key}]
    made = home.create_secret(Name=name, SecretString="one", Description="d", AddReplicaRegions=wish)
    assert [(it["Region"], it["Status"], it["KmsKeyId"]) for it in made["ReplicationStatus"]] == [
        (OTHER, "InSync", key)
    ]
    return str(made["ARN"])


def said(call: Callable[..., Any], **given: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call(**given)
    error = caught.value.response["Error"]
    return str(error["Code"]), str(error["Message"])


def test_a_replica_has_the_primarys_versions_and_a_key_of_its_own(home: Any, other: Any, key: str) -> None:
    arn = replicated(home, "rep/versions", key)
    assert other.get_secret_value(SecretId="rep/versions")["SecretString"] == "one"
    home.put_secret_value(SecretId="rep/versions", SecretString="two")
    there = arn.replace(HOME, OTHER)
    assert other.get_secret_value(SecretId=there)["SecretString"] == "two"
    assert other.get_secret_value(SecretId=there, VersionStage="AWSPREVIOUS")["SecretString"] == "one"
    told = other.describe_secret(SecretId="rep/versions")
    assert (told["ARN"], told["PrimaryRegion"], told["KmsKeyId"]) == (there, HOME, key)
    assert "KmsKeyId" not in home.describe_secret(SecretId="rep/versions")


def test_a_replica_is_read_only(home: Any, other: Any, key: str) -> None:
    replicated(home, "rep/reading", key)
    name, version = (other.get_secret_value(SecretId="rep/reading")[it] for it in ("Name", "VersionId"))
    for call, more in (
        (other.put_secret_value, {"SecretString": "x"}),
        (other.update_secret, {"SecretString": "x"}),
        (other.update_secret_version_stage, {"VersionStage": "MINE", "MoveToVersionId": version}),
        (other.tag_resource, {"Tags": [{"Key": "a", "Value": "b"}]}),
        (other.put_resource_policy, {"ResourcePolicy": "{}"}),
        (other.delete_secret, {"ForceDeleteWithoutRecovery": True}),
        (other.replicate_secret_to_regions, {"AddReplicaRegions": [{"Region": "eu-west-1"}]}),
    ):
        assert said(call, SecretId=name, **more) == ("InvalidParameterException", ON_A_REPLICA)
    assert refused(other.create_secret, Name=name, SecretString="x") == "ResourceExistsException"
    assert home.get_secret_value(SecretId=name)["VersionStages"] == ["AWSCURRENT"]


def test_a_primary_goes_only_after_its_replicas(home: Any, other: Any, key: str) -> None:
    arn = replicated(home, "rep/going", key)
    told = said(home.delete_secret, SecretId=arn, ForceDeleteWithoutRecovery=True)
    message = f"You can't delete secret {arn} that still has replica regions [{OTHER}]."
    assert told == ("InvalidParameterException", message)
    home.remove_regions_from_replication(SecretId=arn, RemoveReplicaRegions=[OTHER])
    assert refused(other.get_secret_value, SecretId="rep/going") == "ResourceNotFoundException"
    home.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)


def test_a_key_is_the_replicas_own_regions(home: Any, other: Any, key: str, client: Client) -> None:
    elsewhere = client("kms", HOME).create_key()["KeyMetadata"]["Arn"]
    home.create_secret(Name="rep/keys", SecretString="one")
    for wrong in (elsewhere, key.replace(key[-12:], "0" * 12), "alias/none"):
        answer = home.replicate_secret_to_regions(
            SecretId="rep/keys", AddReplicaRegions=[{"Region": OTHER, "KmsKeyId": wrong}]
        )["ReplicationStatus"]
        assert [it["Status"] for it in answer] == ["Failed"]
        assert wrong in answer[0]["StatusMessage"]
        assert refused(other.get_secret_value, SecretId="rep/keys") == "ResourceNotFoundException"
    right = {"SecretId": "rep/keys", "AddReplicaRegions": [{"Region": OTHER, "KmsKeyId": key}]}
    assert [it["Status"] for it in home.replicate_secret_to_regions(**right)["ReplicationStatus"]] == ["InSync"]
    assert refused(home.replicate_secret_to_regions, **right) == "InvalidParameterException"
    here = {"SecretId": "rep/keys", "AddReplicaRegions": [{"Region": HOME}]}
    assert refused(home.replicate_secret_to_regions, **here) == "InvalidParameterException"


def test_a_name_that_is_taken_is_not_overwritten_unless_told(home: Any, other: Any, key: str) -> None:
    other.create_secret(Name="rep/taken", SecretString="theirs")
    home.create_secret(Name="rep/taken", SecretString="ours")
    wish = {"SecretId": "rep/taken", "AddReplicaRegions": [{"Region": OTHER, "KmsKeyId": key}]}
    (failed,) = home.replicate_secret_to_regions(**wish)["ReplicationStatus"]
    assert (failed["Status"], "rep/taken already exists" in failed["StatusMessage"]) == ("Failed", True)
    assert other.get_secret_value(SecretId="rep/taken")["SecretString"] == "theirs"
    (made,) = home.replicate_secret_to_regions(**wish, ForceOverwriteReplicaSecret=True)["ReplicationStatus"]
    assert made["Status"] == "InSync"
    assert other.get_secret_value(SecretId="rep/taken")["SecretString"] == "ours"


def test_a_promoted_replica_outlives_its_primary(home: Any, other: Any, key: str) -> None:
    arn = replicated(home, "rep/promoted", key)
    there = arn.replace(HOME, OTHER)
    assert refused(home.stop_replication_to_replica, SecretId="rep/promoted") == "InvalidParameterException"
    assert refused(other.stop_replication_to_replica, SecretId="rep/none") == "ResourceNotFoundException"
    assert other.stop_replication_to_replica(SecretId="rep/promoted")["ARN"] == there
    told = other.describe_secret(SecretId=there)
    assert (told["ARN"], told["KmsKeyId"], told["Description"]) == (there, key, "d")
    assert "PrimaryRegion" not in told
    assert "ReplicationStatus" not in home.describe_secret(SecretId=arn)
    home.put_secret_value(SecretId=arn, SecretString="two")
    assert other.get_secret_value(SecretId=there)["VersionStages"] == ["AWSCURRENT"], "no label of its own has moved"
    home.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)
    assert other.get_secret_value(SecretId="rep/promoted")["SecretString"] == "one"
    other.put_secret_value(SecretId=there, SecretString="three")
    assert other.get_secret_value(SecretId="rep/promoted")["SecretString"] == "three"
    other.delete_secret(SecretId="rep/promoted", ForceDeleteWithoutRecovery=True)


def test_a_replica_is_read_while_its_primarys_region_is_out(
    home: Any, other: Any, key: str, own: Callable[..., Any]
) -> None:
    replicated(home, "rep/outage", key)
    own("faults", [{"kind": "outage", "region": HOME}])
    try:
        with pytest.raises(ClientError, match="ServiceUnavailable"):
            home.get_secret_value(SecretId="rep/outage")
        assert other.get_secret_value(SecretId="rep/outage")["SecretString"] == "one"
        other.stop_replication_to_replica(SecretId="rep/outage")
        other.put_secret_value(SecretId="rep/outage", SecretString="two")
    finally:
        own("faults", method="DELETE")


def test_a_role_needs_the_replicas_own_key_to_read_it(
    home: Any, other: Any, key: str, client: Client, endpoint: str
) -> None:
    arn = replicated(home, "rep/role", key).replace(HOME, OTHER)
    iam, principal = client("iam"), {"Service": "ec2.amazonaws.com"}
    trust = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName="replicas", AssumeRolePolicyDocument=json.dumps({"Statement": [trust]}))
    read = {"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": arn}
    open_ = {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": key}

    def reader(*statements: dict[str, Any]) -> Any:
        policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
        iam.put_role_policy(RoleName="replicas", PolicyName="own", PolicyDocument=policy)
        role = "arn:aws:iam::123456789012:role/replicas"
        given = client("sts", OTHER).assume_role(RoleArn=role, RoleSessionName="i-0abc")["Credentials"]
        return boto3.client(
            "secretsmanager",
            region_name=OTHER,
            endpoint_url=endpoint,
            aws_access_key_id=given["AccessKeyId"],
            aws_secret_access_key=given["SecretAccessKey"],
            aws_session_token=given["SessionToken"],
            config=Config(retries={"total_max_attempts": 1}),
        )

    assert refused(reader(read).get_secret_value, SecretId="rep/role") == "AccessDeniedException"
    assert reader(read, open_).get_secret_value(SecretId="rep/role")["SecretString"] == "one"
    assert refused(reader(read, open_).stop_replication_to_replica, SecretId=arn) == "AccessDeniedException"

"""KMS keys and aliases, secrets and their versions."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..kinds import (
    ID,
    TAG_KEYS,
    TAGS,
    Call,
    Change,
    Each,
    Kind,
    Out,
    P,
    Removed,
    Tagging,
    props,
    replaces,
    same_paths,
)

KEY = Kind(
    service="kms",
    create=Call(
        "create_key",
        {
            "Policy": P("policy"),
            "Description": P("description"),
            "KeyUsage": P("keyUsage"),
            "KeySpec": P("customerMasterKeySpec"),
            # With the creation, as the real provider does it: a kill between the two would leave a key of no name.
            "Tags": P("tags", convert=lambda tags: [{"TagKey": k, "TagValue": v} for k, v in tags.items()]),
        },
        "KeyMetadata.KeyId",
    ),
    # A key is never deleted at once: until its window ends it is there, and yet gone for whoever made it.
    read=Call("describe_key", {"KeyId": ID}, "[KeyMetadata][?KeyState!='PendingDeletion'] | [0]"),
    more={
        "policy": Call("get_key_policy", {"KeyId": ID, "PolicyName": "default"}, "Policy"),
        "rotation": Call("get_key_rotation_status", {"KeyId": ID}, "KeyRotationEnabled"),
    },
    delete=(
        Call(
            "schedule_key_deletion",
            {"KeyId": ID, "PendingWindowInDays": Out("deletionWindowInDays")},
        ),
    ),
    outputs={
        **same_paths("description", "keyUsage", "keyId"),
        "arn": "Arn",
        "policy": "policy",
        "enableKeyRotation": "rotation",
    },
    replace=replaces("keyUsage", "customerMasterKeySpec"),
    changes=(
        Change(("policy",), (Call("put_key_policy", {"KeyId": ID, "PolicyName": "default", "Policy": P("policy")}),)),
        Change(("description",), (Call("update_key_description", {"KeyId": ID, "Description": P("description")}),)),
        Change(
            ("enableKeyRotation",),
            (Call("enable_key_rotation", {"KeyId": ID}, when="enableKeyRotation"),),
            on_create=True,
        ),
    ),
    tagging=Tagging(
        add=Call("tag_resource", {"KeyId": ID, "Tags": TAGS}),
        remove=Call("untag_resource", {"KeyId": ID, "TagKeys": TAG_KEYS}),
        read=Call("list_resource_tags", {"KeyId": ID}, "Tags"),
        key="TagKey",
        value="TagValue",
    ),
    accepts=("deletionWindowInDays",),
)

ALIAS = Kind(
    service="kms",
    create=Call("create_alias", {"AliasName": P("name"), "TargetKeyId": P("targetKeyId")}),
    make_id=lambda _, inputs: str(inputs["name"]),
    read=Call("list_aliases", {}, "Aliases[?AliasName=='$id'] | [0]"),
    delete=(Call("delete_alias", {"AliasName": ID}),),
    outputs={
        "name": "AliasName",
        "arn": "AliasArn",
        "targetKeyId": "TargetKeyId",
        "targetKeyArn": lambda found: f"arn:aws:kms:{found.region}:{found.account}:key/{found.answer['TargetKeyId']}",
    },
    replace=replaces("name"),
    changes=(Change(("targetKeyId",), (Call("update_alias", {"AliasName": ID, "TargetKeyId": P("targetKeyId")}),)),),
)


def _replica(replica: dict[str, Any], _: str = "") -> dict[str, Any]:
    parameters = {"Region": replica["region"], "KmsKeyId": replica.get("kmsKeyId")}
    return {name: value for name, value in parameters.items() if value}


def _without_replicas(client: Any, id_: str, state: Mapping[str, Any]) -> None:
    """A secret that has replicas is not deleted."""
    if regions := [replica["region"] for replica in state.get("replicas") or ()]:
        with suppress(client.exceptions.ResourceNotFoundException):
            client.remove_regions_from_replication(SecretId=id_, RemoveReplicaRegions=regions)


_OVERWRITE = P("forceOverwriteReplicaSecret")
SECRET = Kind(
    service="secretsmanager",
    create=Call(
        "create_secret",
        {
            **props("name", "description", "kmsKeyId"),
            "AddReplicaRegions": P(
                "replicas", convert=lambda replicas: [_replica(replica) for replica in replicas] or None
            ),
            "ForceOverwriteReplicaSecret": _OVERWRITE,
        },
        "ARN",
    ),
    # As with keys: scheduled for deletion means gone.
    read=Call("describe_secret", {"SecretId": ID}, "[@][?!DeletedDate] | [0]"),
    more={"policy": Call("get_resource_policy", {"SecretId": ID}, "ResourcePolicy")},
    delete=(
        Call(
            "delete_secret",
            {"SecretId": ID, "RecoveryWindowInDays": Out("recoveryWindowInDays")},
            when="recoveryWindowInDays",
        ),
        Call("delete_secret", {"SecretId": ID, "ForceDeleteWithoutRecovery": True}),
    ),
    clear=_without_replicas,
    outputs={
        **same_paths("name", "description", "kmsKeyId"),
        "arn": "ARN",
        "policy": "policy",
        "replicas": "ReplicationStatus[].{region: Region, kmsKeyId: KmsKeyId, status: Status, "
        "statusMessage: StatusMessage}",
    },
    replace=replaces("name"),
    changes=(
        # In this order, as a replica gets another key by being made anew.
        Change(
            ("replicas",),
            (
                Call(
                    "remove_regions_from_replication",
                    {
                        "SecretId": ID,
                        "RemoveReplicaRegions": Each("replicas", lambda replica, _: replica["region"], Removed),
                    },
                ),
                Call(
                    "replicate_secret_to_regions",
                    {
                        "SecretId": ID,
                        "AddReplicaRegions": Each("replicas", _replica),
                        "ForceOverwriteReplicaSecret": _OVERWRITE,
                    },
                ),
            ),
        ),
        Change(
            ("description", "kmsKeyId"), (Call("update_secret", {"SecretId": ID, **props("description", "kmsKeyId")}),)
        ),
    ),
    tagging=Tagging(
        add=Call("tag_resource", {"SecretId": ID, "Tags": TAGS}),
        remove=Call("untag_resource", {"SecretId": ID, "TagKeys": TAG_KEYS}),
    ),
    autoname="name",
    accepts=("recoveryWindowInDays",),
)

_PUT_VERSION = Call("put_secret_value", props("secretId", "secretString", "secretBinary"), "VersionId")

SECRET_VERSION = Kind(
    service="secretsmanager",
    create=_PUT_VERSION,
    make_id=lambda taken, inputs: f"{inputs['secretId']}|{taken}",
    read=Call(
        "get_secret_value",
        {"SecretId": P("secretId")},
    ),
    delete=(),  # goes with its secret
    outputs={**same_paths("secretString", "versionId"), "arn": "ARN", "versionStages": "VersionStages"},
    replace=replaces("secretId", "secretString", "secretBinary"),
    missing=("InvalidRequestException",),
)

KINDS = {
    "aws:kms/key:Key": KEY,
    "aws:kms/alias:Alias": ALIAS,
    "aws:secretsmanager/secret:Secret": SECRET,
    "aws:secretsmanager/secretVersion:SecretVersion": SECRET_VERSION,
}

"""EFS: file systems, mount targets, access points, backup and file system policies."""

from typing import Any

from ..kinds import ID, TAG_KEYS, TAGS, Call, Change, Kind, Out, P, Tagging, props, replaces, same_paths

_TAGGING = Tagging(
    add=Call("tag_resource", {"ResourceId": ID, "Tags": TAGS}),
    remove=Call("untag_resource", {"ResourceId": ID, "TagKeys": TAG_KEYS}),
    read=Call("list_tags_for_resource", {"ResourceId": ID}, "Tags"),
)

# EFS says TransitionToIA where the provider says transitionToIa.
_LIFECYCLE = {
    "transitionToIa": "TransitionToIA",
    "transitionToPrimaryStorageClass": "TransitionToPrimaryStorageClass",
    "transitionToArchive": "TransitionToArchive",
}


def _lifecycle(policies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{_LIFECYCLE[key]: value for key, value in policy.items()} for policy in policies]


_PUT_LIFECYCLE = Call(
    "put_lifecycle_configuration",
    {"FileSystemId": ID, "LifecyclePolicies": P("lifecyclePolicies", convert=_lifecycle)},
)

FILE_SYSTEM = Kind(
    service="efs",
    create=Call(
        "create_file_system",
        {
            "CreationToken": P("creationToken"),
            **props("encrypted", "kmsKeyId", "performanceMode", "throughputMode", "provisionedThroughputInMibps"),
            "AvailabilityZoneName": P("availabilityZoneName"),
        },
        "FileSystemId",
    ),
    read=Call("describe_file_systems", {"FileSystemId": ID}, "FileSystems[0]"),
    more={"lifecycle": Call("describe_lifecycle_configuration", {"FileSystemId": ID}, "LifecyclePolicies")},
    delete=(Call("delete_file_system", {"FileSystemId": ID}),),
    outputs={
        **same_paths("creationToken", "encrypted", "kmsKeyId", "performanceMode", "throughputMode", "ownerId"),
        "arn": "FileSystemArn",
        "numberOfMountTargets": "NumberOfMountTargets",
        "dnsName": lambda found: f"{found.id}.efs.{found.region}.amazonaws.com",
        "lifecyclePolicies": lambda found: [
            {name: policy[part] for name, part in _LIFECYCLE.items() if part in policy}
            for policy in found.answer["lifecycle"] or []
        ],
    },
    replace=replaces("creationToken", "encrypted", "kmsKeyId", "performanceMode", "availabilityZoneName"),
    changes=(
        Change(("lifecyclePolicies",), (_PUT_LIFECYCLE,), on_create=True),
        Change(
            ("throughputMode", "provisionedThroughputInMibps"),
            (
                Call(
                    "update_file_system",
                    {"FileSystemId": ID, **props("throughputMode", "provisionedThroughputInMibps")},
                ),
            ),
        ),
    ),
    tagging=_TAGGING,
)

MOUNT_TARGET = Kind(
    service="efs",
    create=Call(
        "create_mount_target", props("fileSystemId", "subnetId", "ipAddress", "securityGroups"), "MountTargetId"
    ),
    read=Call("describe_mount_targets", {"MountTargetId": ID}, "MountTargets[0]"),
    more={"groups": Call("describe_mount_target_security_groups", {"MountTargetId": ID}, "SecurityGroups")},
    delete=(Call("delete_mount_target", {"MountTargetId": ID}),),
    outputs={
        **same_paths("fileSystemId", "subnetId", "ipAddress", "ownerId", "networkInterfaceId", "availabilityZoneName"),
        "availabilityZoneId": "AvailabilityZoneId",
        "securityGroups": "groups",
        "dnsName": lambda found: f"{found.answer['FileSystemId']}.efs.{found.region}.amazonaws.com",
    },
    replace=replaces("fileSystemId", "subnetId", "ipAddress"),
    changes=(
        Change(
            ("securityGroups",),
            (
                Call(
                    "modify_mount_target_security_groups",
                    {"MountTargetId": ID, "SecurityGroups": P("securityGroups")},
                ),
            ),
        ),
    ),
    delete_first=True,  # a zone has one
)


def _creation_info(root: dict[str, Any]) -> dict[str, Any]:
    info = root.get("creationInfo") or {}
    parts = {"OwnerUid": info.get("ownerUid"), "OwnerGid": info.get("ownerGid"), "Permissions": info.get("permissions")}
    made = {"Path": root.get("path"), "CreationInfo": parts if info else None}
    return {key: value for key, value in made.items() if value is not None}


def _user(user: dict[str, Any]) -> dict[str, Any]:
    made = {"Uid": user["uid"], "Gid": user["gid"], "SecondaryGids": user.get("secondaryGids")}
    return {key: value for key, value in made.items() if value is not None}


ACCESS_POINT = Kind(
    service="efs",
    create=Call(
        "create_access_point",
        {
            "FileSystemId": P("fileSystemId"),
            "RootDirectory": P("rootDirectory", convert=_creation_info),
            "PosixUser": P("posixUser", convert=_user),
        },
        "AccessPointId",
    ),
    read=Call("describe_access_points", {"AccessPointId": ID}, "AccessPoints[0]"),
    delete=(Call("delete_access_point", {"AccessPointId": ID}),),
    outputs={
        **same_paths("fileSystemId", "ownerId"),
        "arn": "AccessPointArn",
        "rootDirectory": "RootDirectory.{path: Path, creationInfo: CreationInfo.{"
        "ownerUid: OwnerUid, ownerGid: OwnerGid, permissions: Permissions}}",
    },
    replace=replaces("fileSystemId", "rootDirectory", "posixUser"),
    tagging=_TAGGING,
)


def _system_id(_: Any, inputs: Any) -> str:
    return str(inputs["fileSystemId"])


_PUT_BACKUP = Call(
    "put_backup_policy",
    {"FileSystemId": P("fileSystemId"), "BackupPolicy": {"Status": P("backupPolicy", convert=lambda p: p["status"])}},
)

BACKUP_POLICY = Kind(
    service="efs",
    create=_PUT_BACKUP,
    read=Call("describe_backup_policy", {"FileSystemId": ID}, "BackupPolicy"),
    delete=(Call("put_backup_policy", {"FileSystemId": ID, "BackupPolicy": {"Status": "DISABLED"}}),),
    # While AWS turns backups on, it says so: that is no drift.
    outputs={
        "backupPolicy": lambda found: {
            "status": found.answer["Status"].replace("ENABLING", "ENABLED").replace("DISABLING", "DISABLED")
        },
        "fileSystemId": lambda found: found.id,
    },
    replace=replaces("fileSystemId"),
    changes=(Change(("backupPolicy",), (_PUT_BACKUP,)),),
    make_id=_system_id,
)

_PUT_POLICY = Call(
    "put_file_system_policy",
    {
        "FileSystemId": P("fileSystemId"),
        "Policy": P("policy"),
        "BypassPolicyLockoutSafetyCheck": P("bypassPolicyLockoutSafetyCheck"),
    },
)

FILE_SYSTEM_POLICY = Kind(
    service="efs",
    create=_PUT_POLICY,
    read=Call("describe_file_system_policy", {"FileSystemId": ID}),
    delete=(Call("delete_file_system_policy", {"FileSystemId": Out("fileSystemId")}),),
    outputs={"policy": "Policy", "fileSystemId": lambda found: found.id},
    replace=replaces("fileSystemId"),
    changes=(Change(("policy", "bypassPolicyLockoutSafetyCheck"), (_PUT_POLICY,)),),
    make_id=_system_id,
    missing=("PolicyNotFound",),
)

KINDS = {
    "aws:efs/fileSystem:FileSystem": FILE_SYSTEM,
    "aws:efs/mountTarget:MountTarget": MOUNT_TARGET,
    "aws:efs/accessPoint:AccessPoint": ACCESS_POINT,
    "aws:efs/backupPolicy:BackupPolicy": BACKUP_POLICY,
    "aws:efs/fileSystemPolicy:FileSystemPolicy": FILE_SYSTEM_POLICY,
}

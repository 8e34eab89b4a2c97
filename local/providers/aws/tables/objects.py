"""S3: buckets and the settings that are resources of their own."""

from collections.abc import Callable, Mapping
from typing import Any

from ..kinds import ID, TAGS, Call, Change, Kind, Output, P, Tagging, replaces


def pascal(value: Any) -> Any:
    """Keys as S3 spells them: noncurrentDays → NoncurrentDays, id → ID and kms… → KMS…."""
    if isinstance(value, dict):
        return {_PARTS.get(key, key[0].upper() + key[1:]): pascal(item) for key, item in value.items()}
    return [pascal(item) for item in value] if isinstance(value, list) else value


def camel(value: Any) -> Any:
    """The way back."""
    if isinstance(value, dict):
        return {_NAMES.get(key, key[0].lower() + key[1:]): camel(item) for key, item in value.items()}
    return [camel(item) for item in value] if isinstance(value, list) else value


_PARTS = {
    "id": "ID",
    "sseAlgorithm": "SSEAlgorithm",
    "kmsMasterKeyId": "KMSMasterKeyID",
    "transitions": "Transitions",
    "noncurrentVersionTransitions": "NoncurrentVersionTransitions",
}
_NAMES = {part: name for name, part in _PARTS.items()}


def _empty(client: Any, bucket: str, state: Mapping[str, Any]) -> None:
    """With forceDestroy the provider takes away every object first, with all of its versions."""
    if not state.get("forceDestroy"):
        return
    for page in client.get_paginator("list_object_versions").paginate(Bucket=bucket):
        for one in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            client.delete_object(Bucket=bucket, Key=one["Key"], VersionId=one["VersionId"])


BUCKET = Kind(
    service="s3",
    create=Call(
        "create_bucket",
        {
            "Bucket": P("bucket"),
            "ObjectLockEnabledForBucket": P("objectLockEnabled"),
            # S3 refuses us-east-1 here, and needs every other region to be named.
            "CreateBucketConfiguration": P(
                "region", convert=lambda region: None if region == "us-east-1" else {"LocationConstraint": region}
            ),
        },
    ),
    make_id=lambda _, inputs: str(inputs["bucket"]),
    read=Call("head_bucket", {"Bucket": ID}),
    delete=(Call("delete_bucket", {"Bucket": ID}),),
    outputs={
        "bucket": lambda found: found.id,
        "arn": lambda found: f"arn:aws:s3:::{found.id}",
        "bucketDomainName": lambda found: f"{found.id}.s3.amazonaws.com",
        "bucketRegionalDomainName": lambda found: f"{found.id}.s3.{found.region}.amazonaws.com",
    },
    replace=replaces("bucket", "objectLockEnabled"),
    autoname="bucket",
    tagging=Tagging(
        add=Call("put_bucket_tagging", {"Bucket": ID, "Tagging": {"TagSet": TAGS}}),
        # S3 replaces the whole set: adding what is left also removes what is gone.
        remove=Call("delete_bucket_tagging", {"Bucket": ID}),
        read=Call("get_bucket_tagging", {"Bucket": ID}, "TagSet", optional=True),
    ),
    missing=("404", "NoSuchBucket", "NoSuchTagSet"),
    accepts=("forceDestroy",),
    clear=_empty,
)


def _setting(
    put: Call, get: Call, delete: tuple[Call, ...], missing: tuple[str, ...], outputs: dict[str, Output], *changes: str
) -> Kind:
    """A part of a bucket: its id is the bucket's name, and writing it again updates it."""
    return Kind(
        service="s3",
        create=put,
        read=get,
        delete=delete,
        outputs={"bucket": lambda found: found.id, **outputs},
        replace=replaces("bucket"),
        changes=(Change(changes, (put,)),),
        make_id=lambda _, inputs: str(inputs["bucket"]),
        missing=("NoSuchBucket", "404", *missing),
    )


def _part(name: str) -> Callable[[Any], Any]:
    return lambda found: camel(found.answer.get(name[0].upper() + name[1:]))


VERSIONING = _setting(
    Call(
        "put_bucket_versioning",
        {"Bucket": P("bucket"), "VersioningConfiguration": P("versioningConfiguration", convert=pascal)},
    ),
    Call("get_bucket_versioning", {"Bucket": ID}),
    (Call("put_bucket_versioning", {"Bucket": ID, "VersioningConfiguration": {"Status": "Suspended"}}),),
    (),
    {"versioningConfiguration": lambda found: {"status": found.answer.get("Status", "Disabled")}},
    "versioningConfiguration",
)

ENCRYPTION = _setting(
    Call(
        "put_bucket_encryption",
        {"Bucket": P("bucket"), "ServerSideEncryptionConfiguration": {"Rules": P("rules", convert=pascal)}},
    ),
    Call("get_bucket_encryption", {"Bucket": ID}, "ServerSideEncryptionConfiguration"),
    (Call("delete_bucket_encryption", {"Bucket": ID}),),
    ("ServerSideEncryptionConfigurationNotFoundError",),
    {"rules": _part("rules")},
    "rules",
)

_BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")

PUBLIC_ACCESS = _setting(
    Call(
        "put_public_access_block",
        {
            "Bucket": P("bucket"),
            "PublicAccessBlockConfiguration": {name[0].upper() + name[1:]: P(name, default=False) for name in _BLOCKS},
        },
    ),
    Call("get_public_access_block", {"Bucket": ID}, "PublicAccessBlockConfiguration"),
    (Call("delete_public_access_block", {"Bucket": ID}),),
    ("NoSuchPublicAccessBlockConfiguration",),
    {name: _part(name) for name in _BLOCKS},
    *_BLOCKS,
)

OWNERSHIP = _setting(
    Call(
        "put_bucket_ownership_controls",
        {"Bucket": P("bucket"), "OwnershipControls": {"Rules": P("rule", convert=lambda rule: [pascal(rule)])}},
    ),
    Call("get_bucket_ownership_controls", {"Bucket": ID}, "OwnershipControls"),
    (Call("delete_bucket_ownership_controls", {"Bucket": ID}),),
    ("OwnershipControlsNotFoundError",),
    {"rule": lambda found: camel(found.answer["Rules"][0])},
    "rule",
)

POLICY = _setting(
    Call("put_bucket_policy", {"Bucket": P("bucket"), "Policy": P("policy")}),
    Call("get_bucket_policy", {"Bucket": ID}),
    (Call("delete_bucket_policy", {"Bucket": ID}),),
    ("NoSuchBucketPolicy",),
    {"policy": "Policy"},
    "policy",
)

LIFECYCLE = _setting(
    Call(
        "put_bucket_lifecycle_configuration",
        {"Bucket": P("bucket"), "LifecycleConfiguration": {"Rules": P("rules", convert=pascal)}},
    ),
    Call("get_bucket_lifecycle_configuration", {"Bucket": ID}),
    (Call("delete_bucket_lifecycle", {"Bucket": ID}),),
    ("NoSuchLifecycleConfiguration",),
    {"rules": _part("rules")},
    "rules",
)

KINDS = {
    "aws:s3/bucket:Bucket": BUCKET,
    "aws:s3/bucketVersioning:BucketVersioning": VERSIONING,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": ENCRYPTION,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": PUBLIC_ACCESS,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": OWNERSHIP,
    "aws:s3/bucketPolicy:BucketPolicy": POLICY,
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": LIFECYCLE,
}

"""What a call to S3 needs: S3's operations, its actions and its keys have names of their own.

S3 user guide: "Required permissions for Amazon S3 API operations" and "Amazon S3 condition keys".
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, unquote

import xmltodict

from .conditions import Context
from .policy import Request
from .required_actions import RequiredAction, key_need

# Operation → action, where it is not its own name.
ACTIONS = {
    "HeadObject": "GetObject",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "HeadBucket": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "ListBuckets": "ListAllMyBuckets",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListParts": "ListMultipartUploadParts",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "UploadPartCopy": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "CopyObject": "PutObject",
    "DeleteObjects": "DeleteObject",
    "GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
    "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
    "GetBucketEncryption": "GetEncryptionConfiguration",
    "PutBucketEncryption": "PutEncryptionConfiguration",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
}
VERSIONED = ("GetObject", "DeleteObject", "GetObjectTagging", "GetObjectAcl")


def operation(response: Any) -> str | None:
    """moto finds it by its routes, wherever the bucket's name stands."""
    found = response._get_action_from_method_and_request_uri(response.request)
    return str(found) if found else None


def required(response: Any, context: Context) -> Iterator[RequiredAction]:
    """What the call that `response` answers needs."""
    name = operation(response)
    bucket = _bucket(response, response.bucket_name)
    policy = bucket.policy.decode() if bucket is not None and bucket.policy else None
    action = ACTIONS.get(name or "", name or "Unknown")
    asked_for = parse_qs(response.parsed_url.query, keep_blank_values=True)
    more = {**context, **_keys(response, asked_for)}
    if "versionId" in asked_for and action in VERSIONED:
        action = f"{action}Version"
    arn = f"arn:aws:s3:::{response.bucket_name}" if response.bucket_name else "*"
    keys = _names(response, name)
    for resource in [f"{arn}/{key}" for key in keys] or [arn]:
        yield RequiredAction(Request(f"s3:{action}", resource, more), policy)
    for key in keys:
        yield from _opening(response, bucket, name, key, context)
    if name in ("CopyObject", "UploadPartCopy"):
        source, _, key = unquote(response.headers["x-amz-copy-source"]).lstrip("/").partition("/")
        there = _bucket(response, source)
        key = key.partition("?")[0]
        text = there.policy.decode() if there is not None and there.policy else None
        yield RequiredAction(Request("s3:GetObject", f"arn:aws:s3:::{source}/{key}", more), text)
        yield from _opening(response, there, "GetObject", key, context)


def _names(response: Any, name: str | None) -> list[str]:
    if name == "DeleteObjects":
        listed = xmltodict.parse(response.body)["Delete"].get("Object", [])
        return [thing["Key"] for thing in (listed if isinstance(listed, list) else [listed])]
    key = response.parse_key_name() if response.bucket_name else ""
    return [key] if key else []


def _keys(response: Any, asked_for: dict[str, list[str]]) -> dict[str, list[str]]:
    found = {
        f"s3:{name.lower()}": [value] for name, value in response.headers.items() if name.lower().startswith("x-amz-")
    }
    found |= {f"s3:{name}": asked_for[name] for name in ("prefix", "delimiter", "max-keys") if name in asked_for}
    return found | ({"s3:versionid": asked_for["versionId"]} if "versionId" in asked_for else {})


def _opening(response: Any, bucket: Any, name: str | None, key: str, context: Context) -> Iterator[RequiredAction]:
    """The key that an object is, or will be, encrypted with: S3 uses it in the caller's name."""
    if bucket is None:
        return
    if name in ("GetObject",):
        found = bucket.keys.get(key)
        # In place of a deleted object stands a mark, which nothing encrypts.
        if getattr(found, "encryption", None) == "aws:kms" and found.kms_key_id:
            yield from key_need(response, found.kms_key_id, "kms:Decrypt", context, "s3")
    elif ACTIONS.get(name or "", name) == "PutObject":
        rule = ((bucket.encryption or {}).get("Rule") or {}).get("ApplyServerSideEncryptionByDefault") or {}
        how = response.headers.get("x-amz-server-side-encryption") or rule.get("SSEAlgorithm")
        which = response.headers.get("x-amz-server-side-encryption-aws-kms-key-id") or rule.get("KMSMasterKeyID")
        if how == "aws:kms" and which:
            yield from key_need(response, which, "kms:GenerateDataKey", context, "s3")


def _bucket(response: Any, name: str) -> Any:
    return response.backend.buckets.get(name) if name else None

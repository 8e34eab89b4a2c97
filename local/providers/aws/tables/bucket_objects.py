"""Objects in buckets. What is in one is not read back: the provider does not either, unless it is given an ETag."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from ..kinds import TAGS, Call, Change, Kind, P, Tagging, props, replaces, same_paths

_PUT = Call(
    "put_object",
    {
        **props("bucket", "key", "contentType", "cacheControl", "contentEncoding", "serverSideEncryption", "metadata"),
        "SSEKMSKeyId": P("kmsKeyId"),
        "BucketKeyEnabled": P("bucketKeyEnabled"),
        "Body": P("content", default="", convert=str.encode),
        # A new object has no tags but those that it comes with.
        "Tagging": P("tags", convert=urlencode),
    },
)
_PLACE: dict[str, Any] = {"Bucket": P("bucket"), "Key": P("key")}
_CHANGING = ("content", "contentType", "cacheControl", "contentEncoding", "serverSideEncryption", "metadata")


def _without_versions(client: Any, key: str, state: Mapping[str, Any]) -> None:
    """The provider deletes every version, and the markers, of what it has written: the bucket may go then."""
    bucket = state["bucket"]
    with suppress(client.exceptions.NoSuchBucket):
        for page in client.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=key):
            for one in [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]:
                if one["Key"] == key:
                    client.delete_object(Bucket=bucket, Key=key, VersionId=one["VersionId"])


OBJECT = Kind(
    service="s3",
    create=_PUT,
    make_id=lambda _, inputs: str(inputs["key"]),
    read=Call("head_object", _PLACE),
    delete=(),
    clear=_without_versions,
    outputs={
        **same_paths("contentType", "cacheControl", "contentEncoding", "serverSideEncryption", "metadata"),
        **same_paths("versionId", "bucketKeyEnabled"),
        "bucket": lambda found: found.inputs["bucket"],
        "key": lambda found: found.id,
        "kmsKeyId": "SSEKMSKeyId",
        "etag": lambda found: found.answer["ETag"].strip('"'),
        "arn": lambda found: f"arn:aws:s3:::{found.inputs['bucket']}/{found.id}",
    },
    replace=replaces("bucket", "key"),
    changes=(Change((*_CHANGING, "kmsKeyId", "bucketKeyEnabled"), (_PUT,)),),
    tagging=Tagging(
        # S3 replaces the whole set.
        add=Call("put_object_tagging", {**_PLACE, "Tagging": {"TagSet": TAGS}}),
        remove=Call("delete_object_tagging", _PLACE),
        read=Call("get_object_tagging", _PLACE, "TagSet"),
    ),
    missing=("404", "NoSuchKey", "NoSuchBucket"),
    autoname="key",
)

KINDS = {"aws:s3/bucketObjectv2:BucketObjectv2": OBJECT}

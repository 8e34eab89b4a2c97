"""Empties the buckets of a stack that is destroyed with its data.

AWS deletes none that holds an object or an old version; Azure deletes a storage account with all that is in it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from landbridge.errors import LandbridgeError

TYPES = ("aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2")
# What AWS says of one, and how often a destroy begins again for it: flow logs come some minutes late.
NOT_EMPTY, TIMES = "BucketNotEmpty", 4
# "DeleteObjects": most in one call, which is a page of a listing, too.
PAGE = 1_000


def buckets(state: Mapping[str, Any] | None) -> list[str]:
    """Names of a stack's own that do not empty themselves when they go."""
    found = (state or {}).get("resources") or ()
    mine = (one for one in found if one["type"] in TYPES and not one.get("external"))
    return [str(one["id"]) for one in mine if one.get("id") and not (one.get("inputs") or {}).get("forceDestroy")]


def empty(s3: Any, bucket: str, tell: Callable[[int], None]) -> int:
    """How many objects, old versions and marks of deletion went; `tell` hears how many did so far, and may raise.

    Raises LandbridgeError when one can't be deleted. A bucket that is gone is empty.
    """
    gone = 0
    try:
        for page in _pages(s3, bucket):
            answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": page, "Quiet": True})
            if wrong := answer.get("Errors"):
                first = wrong[0]
                why = f"{first.get('Code')}: {first.get('Message')}"
                raise LandbridgeError(
                    f"{bucket} can't be emptied: {len(wrong)} of its objects stay, {first['Key']}: {why}"
                )
            gone += len(page)
            tell(gone)
        for upload in s3.list_multipart_uploads(Bucket=bucket).get("Uploads") or ():
            s3.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchBucket":
            raise LandbridgeError(f"{bucket} can't be emptied: {error}") from error
    return gone


def _pages(s3: Any, bucket: str) -> Iterator[list[dict[str, str]]]:
    """The first page again and again: what was listed before it is gone."""
    while True:
        listed = s3.list_object_versions(Bucket=bucket, MaxKeys=PAGE)
        found = [*(listed.get("Versions") or ()), *(listed.get("DeleteMarkers") or ())]
        if not found:
            return
        yield [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in found]

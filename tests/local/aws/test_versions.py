"""Versions in a bucket are deleted one by one, also when no new ones are kept any more."""

from collections.abc import Callable
from typing import Any


def listed(s3: Any) -> list[str]:
    page = s3.list_object_versions(Bucket="suspended")
    return [one["VersionId"] for one in (*page.get("Versions", ()), *page.get("DeleteMarkers", ()))]


def test_a_suspended_bucket_loses_the_version_that_is_named(client: Callable[..., Any]) -> None:
    s3 = client("s3")
    s3.create_bucket(Bucket="suspended", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_bucket_versioning(Bucket="suspended", VersioningConfiguration={"Status": "Enabled"})
    first, second = (s3.put_object(Bucket="suspended", Key="k", Body=body)["VersionId"] for body in (b"1", b"2"))
    marker = s3.delete_object(Bucket="suspended", Key="k")["VersionId"]
    s3.put_bucket_versioning(Bucket="suspended", VersioningConfiguration={"Status": "Suspended"})
    s3.delete_object(Bucket="suspended", Key="k", VersionId=second)
    assert sorted(listed(s3)) == sorted([first, marker])
    assert s3.get_bucket_versioning(Bucket="suspended")["Status"] == "Suspended"
    for version in (marker, first):
        s3.delete_object(Bucket="suspended", Key="k", VersionId=version)
    assert listed(s3) == []
    s3.delete_bucket(Bucket="suspended")

"""A bucket whose versioning is suspended still has the versions it had, and each of them can be deleted.

S3 user guide: "Working with objects in a versioning-suspended bucket", "Deleting objects from versioning-suspended
buckets". moto deletes the whole key then, and fails on one that ends in a delete marker.
"""

from typing import Any

from moto.s3.models import S3Backend

from .patching import override

ENABLED, SUSPENDED = "Enabled", "Suspended"


def install() -> None:
    """Deletes the version that the call names, and nothing else."""

    @override(S3Backend, "delete_object")
    def delete_object(
        self: Any,
        original: Any,
        bucket_name: str,
        key_name: str,
        version_id: str | None = None,
        *args: Any,
        **more: Any,
    ) -> Any:
        bucket = self.get_bucket(bucket_name)
        if version_id is None or bucket.versioning_status != SUSPENDED:
            return original(bucket_name, key_name, version_id, *args, **more)
        bucket.versioning_status = ENABLED
        try:
            return original(bucket_name, key_name, version_id, *args, **more)
        finally:
            bucket.versioning_status = SUSPENDED

"""What lies in a fleet bucket in S3, by name."""

import re
from typing import Any

from .clients import client, errors

INTO = re.compile(r"s3://([a-z0-9][a-z0-9.-]+)")


class Bucket:
    """One thread uses it."""

    def __init__(self, bucket: str, region: str, s3: Any = None) -> None:
        self.bucket, self.s3 = bucket, s3 or client("s3", region)

    def listed(self, prefix: str) -> list[str]:
        with errors(f"ListObjectsV2 s3://{self.bucket}/{prefix}"):
            pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            return [one["Key"] for page in pages for one in page.get("Contents") or []]

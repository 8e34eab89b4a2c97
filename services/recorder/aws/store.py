"""The fleet bucket in S3, by the role of the recorder's pod."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import StoreError, ThereError
from .clients import client

INTO = re.compile(r"s3://([a-z0-9][a-z0-9.-]+)")
THERE = ("PreconditionFailed", "ConditionalRequestConflict")


def opened(bucket: str) -> "Bucket":
    return Bucket(bucket)


class Bucket:
    def __init__(self, bucket: str, client: Any = None) -> None:
        self.bucket, self._client = bucket, client

    @property
    def client(self) -> Any:
        """One thread alone uses it."""
        if self._client is None:
            # What stays unsent is sent again in a minute.
            self._client = client("s3", attempts=3)
        return self._client

    def put(self, key: str, data: bytes) -> None:
        with self._errors("PutObject", key):
            self.client.put_object(Bucket=self.bucket, Key=key, Body=data)

    def put_new(self, key: str, data: bytes) -> bool:
        try:
            with self._errors("PutObject", key):
                self.client.put_object(Bucket=self.bucket, Key=key, Body=data, IfNoneMatch="*")
        except ThereError:
            return False
        return True

    def get(self, key: str) -> bytes:
        with self._errors("GetObject", key):
            return bytes(self.client.get_object(Bucket=self.bucket, Key=key)["Body"].read())

    def listed(self, prefix: str) -> list[str]:
        with self._errors("ListObjectsV2", prefix):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            return [one["Key"] for page in pages for one in page.get("Contents") or []]

    def delete(self, key: str) -> None:
        with self._errors("DeleteObject", key):
            self.client.delete_object(Bucket=self.bucket, Key=key)

    @contextmanager
    def _errors(self, call: str, key: str) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            kind = ThereError if error.response["Error"]["Code"] in THERE else StoreError
            raise kind(f"{call} s3://{self.bucket}/{key}: {error}") from None
        except (BotoCoreError, OSError) as error:
            raise StoreError(f"{call} s3://{self.bucket}/{key}: {error}") from None

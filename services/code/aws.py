"""Code in S3, asked with the role of the team's pods."""

import re
from typing import Any

from .errors import AbsentError, AwayError, BrokenError, FetchError, RefusedError, Stream, may_pass

TREE = re.compile(r"s3://([a-z0-9][a-z0-9.-]+)/(teams/([a-z0-9-]+)/code/)trees/([0-9a-f]{64})\.json")
REFUSED, ABSENT = ("AccessDenied", "403"), ("NoSuchKey", "404")
NEEDS = "it needs s3:GetObject below {folder} and kms:Decrypt with the bucket's key"


def where(bucket: str, key: str) -> str:
    return f"s3://{bucket}/{key}"


def client(bucket: str) -> Any:  # noqa: ARG001 - one client asks for all buckets
    """By the credentials that the pod has. Its own retries are all there are before an answer begins."""
    import boto3
    from botocore.config import Config

    retries = {"mode": "standard", "total_max_attempts": 6}
    config = Config(connect_timeout=5, read_timeout=30, retries=retries, max_pool_connections=16)
    return boto3.client("s3", config=config)


def read(client: Any, bucket: str, key: str, span: tuple[int, int] | None) -> Stream:
    """All of it, or bytes from the span's start to before its end. Raises what errors.py has."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    part = {"Range": f"bytes={span[0]}-{span[1] - 1}"} if span else {}
    try:
        return _Answer(client.get_object(Bucket=bucket, Key=key, **part)["Body"], where(bucket, key))
    except NoCredentialsError:
        raise RefusedError from None
    except ClientError as error:
        code = str(error.response["Error"]["Code"])
        if code in ABSENT or (code in REFUSED and _is_gone(client, bucket, key)):
            raise AbsentError from None
        if code in REFUSED:
            raise RefusedError(NEEDS) from None
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        raise (AwayError if may_pass(status) else FetchError)(str(error)) from None
    except BotoCoreError as error:
        raise AwayError(str(error)) from None


def _is_gone(client: Any, bucket: str, key: str) -> bool:
    """S3 says 403 of what is not there to a role that may list its own folder alone; that list tells."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        listed = client.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)
    except (ClientError, BotoCoreError):
        return False
    return not listed.get("KeyCount")


class _Answer:
    def __init__(self, body: Any, where: str) -> None:
        self.body, self.where = body, where

    def read(self, size: int, /) -> bytes:
        from botocore.exceptions import BotoCoreError

        try:
            return bytes(self.body.read(size))
        except BotoCoreError as error:
            raise BrokenError(f"{self.where}: S3's answer ended early: {error}") from None

"""Where code lies, as a pod asks for it: a team's folder in S3, with the role of the team's pods."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from fleet.team_code import pack_key, tree_key

TREE = re.compile(r"s3://([a-z0-9][a-z0-9.-]+)/(teams/([a-z0-9-]+)/code/)trees/([0-9a-f]{64})\.json")
REFUSED, ABSENT = ("AccessDenied", "403"), ("NoSuchKey", "404")


class FetchError(Exception):
    """Why there is no code. One line, for people."""


class BrokenError(FetchError):
    """An answer that ended early. Another try may do."""


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Place(NamedTuple):
    """Of a tree: `prefix` is the team's folder of code, with a slash behind it."""

    bucket: str
    prefix: str
    team: str
    digest: str

    def where(self, key: str) -> str:
        return f"s3://{self.bucket}/{self.prefix}{key}"


def place(url: str) -> Place:
    """Raises FetchError."""
    found = TREE.fullmatch(url)
    if not found:
        raise FetchError(f"{url} is no tree of code: it is called s3://BUCKET/teams/TEAM/code/trees/SHA256.json")
    return Place(*found.groups())


def s3() -> Any:
    """By the credentials that the pod has. Its own retries are all there are before an answer begins."""
    import boto3
    from botocore.config import Config

    retries = {"mode": "standard", "total_max_attempts": 6}
    config = Config(connect_timeout=5, read_timeout=30, retries=retries, max_pool_connections=16)
    return boto3.client("s3", config=config)


class Source:
    """`client` is called when S3 is first asked: a pod whose code is all in the cache needs no cloud."""

    def __init__(self, at: Place, client: Callable[[], Any] = s3) -> None:
        self.place, self._make = at, client
        self._client: Any = None
        self._lock = threading.Lock()

    def _connect(self) -> Any:
        with self._lock:  # boto3 makes clients in one thread at a time
            if self._client is None:
                self._client = self._make()
        return self._client

    def tree(self) -> bytes:
        """Raises FetchError."""
        key = tree_key(self.place.digest)
        with self._errors(key, "the code"):
            return bytes(self._get(key)["Body"].read())

    def pack(self, sha256: str, start: int, end: int) -> Stream:
        """Bytes of a pack, from `start` to before `end`. Raises FetchError; its `read` raises BrokenError."""
        key = pack_key(sha256)
        with self._errors(key, "a pack of the code"):
            return _Answer(self._get(key, Range=f"bytes={start}-{end - 1}")["Body"], self.place.where(key))

    def _get(self, key: str, **more: str) -> Any:
        return self._connect().get_object(Bucket=self.place.bucket, Key=self.place.prefix + key, **more)

    @contextmanager
    def _errors(self, key: str, what: str) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        where = self.place.where(key)
        gone = f"{what} {where} is not there any more: launch the run again, which sends it"
        try:
            yield
        except NoCredentialsError:
            account = "let it have the service account `storage`, whose pods get the team's role"
            raise FetchError(f"{where} can't be read: this pod has no credentials: {account}") from None
        except ClientError as error:
            code = str(error.response["Error"]["Code"])
            if code in ABSENT or (code in REFUSED and self._is_gone(key)):
                raise FetchError(gone) from None
            if code in REFUSED:
                needs = f"it needs s3:GetObject below {self.place.prefix} and kms:Decrypt with the bucket's key"
                raise FetchError(f"the team's role may not read {where}: {needs}") from None
            raise FetchError(f"{where} can't be read: {error}") from None
        except BotoCoreError as error:
            raise FetchError(f"{where} can't be read: {error}") from None

    def _is_gone(self, key: str) -> bool:
        """S3 says 403 of what is not there to a role that may list its own folder alone; that list tells."""
        from botocore.exceptions import BotoCoreError, ClientError

        whole = self.place.prefix + key
        try:
            listed = self._connect().list_objects_v2(Bucket=self.place.bucket, Prefix=whole, MaxKeys=1)
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

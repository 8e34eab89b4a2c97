"""The cloud that this machine is in, as its bundle names it: what its scripts speak to, whichever it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from machine import settings


class Cloud(Protocol):
    """A region's buckets, spoken to as this machine's role or identity. All raise Refused or OSError."""

    # Of the last answer.
    headers: dict[str, str]

    def url(self, bucket: str, key: str) -> str:
        """For people."""
        ...

    def put(self, bucket: str, key: str, data: bytes) -> None: ...

    def upload(self, bucket: str, key: str, path: Path, about: Mapping[str, str]) -> None:
        """Puts a file into a bucket; `about` becomes the object's metadata."""
        ...

    def newer(self, bucket: str, key: str, etag: str) -> str | None:
        """An object's text unless it is still the one of this mark; `headers` have its mark, ETag, then."""
        ...

    def keys(self, bucket: str, prefix: str, after: str) -> list[str]:
        """Of objects below `prefix`, those that stand behind `after` in the alphabet; a thousand at least."""
        ...


def named() -> str:
    """Which one: aws or azure."""
    return str(settings("cloud")["cloud"])


def cloud(region: str) -> Cloud:
    """A bundle has the module of its own cloud alone."""
    if named() == "azure":
        from api_azure import Azure

        return Azure()
    from api_aws import Aws

    return Aws(region)

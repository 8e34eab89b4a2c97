"""Code in a storage account of Azure, asked with the identity of the team's pods."""

import re
from collections.abc import Iterator
from typing import Any

from .errors import AbsentError, AwayError, BrokenError, FetchError, RefusedError, Stream, may_pass

TREE = re.compile(
    r"https://([a-z0-9]{3,24})\.blob\.core\.windows\.net/fleet/(teams/([a-z0-9-]+)/code/)trees/([0-9a-f]{64})\.json"
)
CONTAINER = "fleet"
NEEDS = "it needs the role Storage Blob Data Contributor below {folder}, as the cluster's add-ons give it"


def where(bucket: str, key: str) -> str:
    return f"https://{bucket}.blob.core.windows.net/{CONTAINER}/{key}"


def client(bucket: str) -> Any:
    """By the identity that admission gives the pod; the client's own retries are those of azure-core."""
    from azure.identity import WorkloadIdentityCredential
    from azure.storage.blob import ContainerClient

    return ContainerClient(
        f"https://{bucket}.blob.core.windows.net",
        CONTAINER,
        WorkloadIdentityCredential(),
        connection_timeout=5,
        read_timeout=30,
    )


def read(client: Any, bucket: str, key: str, span: tuple[int, int] | None) -> Stream:
    """All of it, or bytes from the span's start to before its end. Raises what errors.py has."""
    from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError, ResourceNotFoundError

    part = {"offset": span[0], "length": span[1] - span[0]} if span else {}
    try:
        return _Answer(client.download_blob(key, max_concurrency=1, **part), where(bucket, key))
    except ResourceNotFoundError:
        raise AbsentError from None
    except ClientAuthenticationError:
        raise RefusedError from None
    except HttpResponseError as error:
        if error.status_code == 403:
            raise RefusedError(NEEDS) from None
        raise (AwayError if may_pass(error.status_code) else FetchError)(str(error).partition("\n")[0]) from None
    except AzureError as error:
        raise AwayError(str(error).partition("\n")[0]) from None


class _Answer:
    """What comes in pieces of Azure's own size, in those that are asked for."""

    def __init__(self, download: Any, where: str) -> None:
        self.pieces: Iterator[bytes] = iter(download.chunks())
        self.left, self.where = b"", where

    def read(self, size: int, /) -> bytes:
        from azure.core.exceptions import AzureError

        try:
            while not self.left and (piece := next(self.pieces, b"")):
                self.left = piece
        except AzureError as error:
            raise BrokenError(f"{self.where}: Azure's answer ended early: {error}") from None
        found, self.left = self.left[:size], self.left[size:]
        return found

"""The fleet bucket in a storage account of Azure, by the identity of the recorder's pod."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import StoreError, ThereError

CONTAINER = "fleet"
INTO = re.compile(rf"https://([a-z0-9]{{3,24}})\.blob\.core\.windows\.net/{CONTAINER}")


def opened(account: str) -> "Bucket":
    return Bucket(account)


class Bucket:
    def __init__(self, account: str, client: Any = None) -> None:
        self.account, self._client = account, client

    @property
    def client(self) -> Any:
        """One thread alone uses it."""
        if self._client is None:
            from azure.identity import WorkloadIdentityCredential
            from azure.storage.blob import ContainerClient

            self._client = ContainerClient(
                f"https://{self.account}.blob.core.windows.net",
                CONTAINER,
                WorkloadIdentityCredential(),
                connection_timeout=5,
                read_timeout=20,
                # What stays unsent is sent again in a minute.
                retry_total=2,
            )
        return self._client

    def put(self, key: str, data: bytes) -> None:
        with self._errors("Put Blob", key):
            self.client.upload_blob(key, data, overwrite=True)

    def put_new(self, key: str, data: bytes) -> bool:
        try:
            with self._errors("Put Blob", key):
                self.client.upload_blob(key, data, overwrite=False)
        except ThereError:
            return False
        return True

    def get(self, key: str) -> bytes:
        with self._errors("Get Blob", key):
            return bytes(self.client.download_blob(key, max_concurrency=1).readall())

    def listed(self, prefix: str) -> list[str]:
        with self._errors("List Blobs", prefix):
            return list(self.client.list_blob_names(name_starts_with=prefix))

    def delete(self, key: str) -> None:
        with self._errors("Delete Blob", key):
            self.client.delete_blob(key)

    @contextmanager
    def _errors(self, call: str, key: str) -> Iterator[None]:
        from azure.core.exceptions import AzureError, ResourceExistsError

        try:
            yield
        except (AzureError, OSError) as error:
            where = f"https://{self.account}.blob.core.windows.net/{CONTAINER}/{key}"
            kind = ThereError if isinstance(error, ResourceExistsError) else StoreError
            raise kind(f"{call} {where}: {str(error).partition(chr(10))[0]}") from None

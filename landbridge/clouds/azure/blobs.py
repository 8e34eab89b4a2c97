"""A fleet bucket in Azure: a storage account with one container, in which the keys of objects are blobs' names."""

from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from components.storage.azure.spec import CONTAINER
from landbridge.etcd.store import URL_SECONDS, Snapshot

from .clients import Clients
from .refusals import call_azure

# Clocks differ, and an address that is not good yet is none.
EARLY = timedelta(minutes=5)
READS = "You need the role Storage Blob Data Reader on the account"
WRITES = "You need the role Storage Blob Data Contributor on the account"
# Somebody else was quicker, by Azure's words.
CLASHES = ("BlobAlreadyExists", "ConditionNotMet")


class Blobs:
    """`account` is the fleet bucket's name."""

    def __init__(self, clients: Clients, account: str) -> None:
        self.clients, self.account = clients, account

    @cached_property
    def service(self) -> Any:
        return self.clients.blobs(self.account)

    @cached_property
    def container(self) -> Any:
        return self.service.get_container_client(CONTAINER)

    def where(self, key: str) -> str:
        return f"https://{self.account}.blob.core.windows.net/{CONTAINER}/{key}"

    def get_url(self, key: str, seconds: int = URL_SECONDS) -> str:
        """Signed by a key that Azure gives whoever is signed in, so that it may no more than they may."""
        from azure.storage.blob import BlobSasPermissions, generate_blob_sas

        now = datetime.now(UTC)
        begins, ends = now - EARLY, now + timedelta(seconds=seconds)
        key_ = call_azure(
            f"No address for {self.where(key)} can be made",
            READS,
            lambda: self.service.get_user_delegation_key(begins, ends),
        )
        signed = generate_blob_sas(
            self.account,
            CONTAINER,
            key,
            user_delegation_key=key_,
            permission=BlobSasPermissions(read=True),
            start=begins,
            expiry=ends,
            protocol="https",
        )
        return f"{self.where(key)}?{signed}"

    def exists(self, key: str) -> bool:
        what = f"{self.where(key)} can't be asked after"
        return bool(call_azure(what, READS, self.container.get_blob_client(key).exists))

    def read(self, key: str) -> bytes | None:
        data, etag = self.read_with_etag(key)
        return data if etag else None

    def read_with_etag(self, key: str) -> tuple[bytes, str]:
        from azure.core.exceptions import ResourceNotFoundError

        def body() -> tuple[bytes, str]:
            try:
                found = self.container.download_blob(key)
                return bytes(found.readall()), str(found.properties.etag)
            except ResourceNotFoundError as error:
                if error.error_code == "BlobNotFound":
                    return b"", ""
                raise

        return call_azure(f"{self.where(key)} can't be read", READS, body)

    def put_over(self, key: str, data: bytes, etag: str, kind: str) -> bool:
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceExistsError, ResourceModifiedError
        from azure.storage.blob import ContentSettings

        only: dict[str, Any] = {"overwrite": False}
        if etag:
            only = {"overwrite": True, "etag": etag, "match_condition": MatchConditions.IfNotModified}

        def written() -> bool:
            try:
                settings = ContentSettings(content_type=kind)
                self.container.upload_blob(key, data, content_settings=settings, **only)
            except (ResourceExistsError, ResourceModifiedError) as error:
                if error.error_code in CLASHES:
                    return False
                raise
            return True

        return call_azure(f"{self.where(key)} can't be written", WRITES, written)

    def put(self, key: str, data: bytes) -> None:
        what = f"{self.where(key)} can't be written"
        call_azure(what, WRITES, lambda: self.container.upload_blob(key, data, overwrite=True))

    def delete(self, key: str) -> None:
        from azure.core.exceptions import ResourceNotFoundError

        def gone() -> None:
            try:
                self.container.delete_blob(key)
            except ResourceNotFoundError as error:
                if error.error_code != "BlobNotFound":
                    raise

        call_azure(f"{self.where(key)} can't be deleted", WRITES, gone)

    def listed(self, prefix: str) -> list[Snapshot]:
        found = call_azure(
            f"{self.where(prefix)} can't be listed",
            READS,
            lambda: list(self.container.list_blobs(name_starts_with=prefix)),
        )
        return [Snapshot(one.name, one.size, one.last_modified) for one in found]

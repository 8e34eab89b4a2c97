"""The fleet bucket as the recorder uses it, in either cloud."""

from typing import Protocol

from .aws import store as aws_store
from .azure import store as azure_store


class Store(Protocol):
    """All raise StoreError."""

    def put(self, key: str, data: bytes) -> None: ...

    def put_new(self, key: str, data: bytes) -> bool:
        """False where there is such an object already: that one stays."""

    def get(self, key: str) -> bytes: ...

    def listed(self, prefix: str) -> list[str]:
        """Keys, in their order."""

    def delete(self, key: str) -> None: ...


def opened(into: str) -> Store:
    """Raises ValueError for an address of neither form. Nobody is asked yet."""
    for cloud in (aws_store, azure_store):
        if found := cloud.INTO.fullmatch(into):
            bucket: Store = cloud.opened(found[1])
            return bucket
    raise ValueError(f"{into} is no fleet bucket: s3://BUCKET or https://ACCOUNT.blob.core.windows.net/fleet")

"""What lies in the fleet bucket in a storage account of Azure, by name."""

import re
from typing import Any

from ..errors import CloudError

CONTAINER = "fleet"
INTO = re.compile(rf"https://([a-z0-9]{{3,24}})\.blob\.core\.windows\.net/{CONTAINER}")


class Bucket:
    """One thread uses it. An account's name says where it is."""

    def __init__(self, account: str, region: str, container: Any = None) -> None:
        self.account, self.region, self._container = account, region, container

    @property
    def container(self) -> Any:
        if self._container is None:
            from azure.identity import WorkloadIdentityCredential
            from azure.storage.blob import ContainerClient

            self._container = ContainerClient(
                f"https://{self.account}.blob.core.windows.net",
                CONTAINER,
                WorkloadIdentityCredential(),
                connection_timeout=5,
                read_timeout=20,
                retry_total=1,
            )
        return self._container

    def listed(self, prefix: str) -> list[str]:
        from azure.core.exceptions import AzureError

        try:
            return list(self.container.list_blob_names(name_starts_with=prefix))
        except (AzureError, OSError) as error:
            where = f"https://{self.account}.blob.core.windows.net/{CONTAINER}/{prefix}"
            raise CloudError(f"List Blobs {where}: {str(error).partition(chr(10))[0]}") from None

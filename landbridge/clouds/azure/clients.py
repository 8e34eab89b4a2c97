"""Azure's own clients, of one subscription, signed in as the user is; each is made when it is first asked."""

from functools import cached_property
from typing import Any

from .sign_in import credential

# What Azure puts off is told or tried again by azure_refusals; only lost connections are tried again here.
PATIENT = {"retry_total": 3, "retry_status": 0}
# For a region that may be out.
HASTY = {"retry_total": 1, "retry_status": 0, "connection_timeout": 5, "read_timeout": 15}


class Clients:
    """`more` are settings of every client. They sign in by `credential`, else as the user is."""

    def __init__(self, subscription: str, *, hasty: bool = False, credential: Any = None, **more: Any) -> None:
        self.subscription, self._credential = subscription, credential
        self.settings: dict[str, Any] = {**(HASTY if hasty else PATIENT), **more}

    @cached_property
    def credential(self) -> Any:
        return self._credential or credential()

    def _of(self, kind: Any) -> Any:
        return kind(self.credential, self.subscription, **self.settings)

    # Their imports take a second, which few commands need.
    @cached_property
    def compute(self) -> Any:
        from azure.mgmt.compute import ComputeManagementClient

        return self._of(ComputeManagementClient)

    @cached_property
    def network(self) -> Any:
        from azure.mgmt.network import NetworkManagementClient

        return self._of(NetworkManagementClient)

    @cached_property
    def resources(self) -> Any:
        from azure.mgmt.resource.resources import ResourceManagementClient

        return self._of(ResourceManagementClient)

    def blobs(self, account: str) -> Any:
        from azure.storage.blob import BlobServiceClient

        return BlobServiceClient(f"https://{account}.blob.core.windows.net", self.credential, **self.settings)

    def vault(self, name: str) -> Any:
        from azure.keyvault.secrets import SecretClient

        return SecretClient(f"https://{name}.vault.azure.net", self.credential, **self.settings)

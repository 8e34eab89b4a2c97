"""A store in three regions of the local Azure, by Azure's own clients."""

from pathlib import Path
from typing import Any

from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.storage.blob import BlobClient

from images.stores.azure.account import Clients
from images.stores.azure.store import Azure
from images.stores.publishing import Waits
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

REGIONS = ("southcentralus", "eastus", "westeurope")
FAST: dict[str, Any] = {"polling_interval": 0, "retry_total": 0}


def clients(azure: LocalAzure) -> Clients:
    def pages(address: str) -> Any:
        return BlobClient.from_blob_url(address, transport=azure.transport(), retry_total=0)

    return Clients(azure.client(ComputeManagementClient, **FAST), azure.client(ResourceManagementClient, **FAST), pages)


def store(azure: LocalAzure, journals: Path, fleet: str, regions: tuple[str, ...] = REGIONS) -> Azure:
    return Azure(fleet, SUBSCRIPTION, regions, clients(azure), journals, Waits(0.05, 200))


class Killed(BaseException):
    """What a kill is to the code that it hits."""


class Mortal:
    """A group of operations that dies once, before or after one of its own."""

    def __init__(self, operations: Any, due: Any) -> None:
        self.operations, self.due = operations, due

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.operations, name)
        if not callable(found):
            return Mortal(found, self.due)

        def call(*args: Any, **given: Any) -> Any:
            if self.due(f"before {name}"):
                raise Killed
            answer = found(*args, **given)
            if self.due(f"after {name}"):
                raise Killed
            return answer

        return call

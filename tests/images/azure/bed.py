"""A store in three regions of the local Azure, by Azure's own clients."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.storage.blob import BlobClient

from fleet import images as tags
from fleet.azure import images as names
from images import channels
from images.baked import Baked
from images.stores.azure.account import Clients
from images.stores.azure.store import Azure
from images.stores.publishing import Waits
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

from ..store_bed import KUBERNETES, USED, Mortal, StoreBed, bake, told

REGIONS = ("southcentralus", "eastus", "westeurope")
# Gallery, image and disk are made first, the version once all is uploaded.
MAKE = "begin_create_or_update"
FAST: dict[str, Any] = {"polling_interval": 0, "retry_total": 0}


def clients(azure: LocalAzure) -> Clients:
    def pages(address: str) -> Any:
        return BlobClient.from_blob_url(address, transport=azure.transport(), retry_total=0)

    return Clients(azure.client(ComputeManagementClient, **FAST), azure.client(ResourceManagementClient, **FAST), pages)


def store(azure: LocalAzure, journals: Path, fleet: str, regions: tuple[str, ...] = REGIONS) -> Azure:
    return Azure(fleet, SUBSCRIPTION, regions, clients(azure), journals, Waits(0.05, 200))


@contextlib.contextmanager
def interrupted(store: Azure, due: Callable[[str], bool]) -> Iterator[None]:
    whole = store.clients
    store.clients = whole._replace(
        compute=Mortal(whole.compute, due),
        resources=Mortal(whole.resources, due),
        pages=lambda address: Mortal(whole.pages(address), due),
    )
    yield
    store.clients = whole


def published(store: Azure, folder: Path, *marks: str) -> list[str]:
    """The names of images that were published, one after the other."""
    found = []
    for mark in marks:
        baked, image = bake(folder, mark)
        channels.publish(store, baked, image, "alice", told)
        found.append(image.name)
    return found


class Bed(StoreBed):
    regions, disk, pointing = REGIONS, "disk.vhd", "begin_update_at_scope"
    steps = (
        *("before create_or_update", "after create_or_update", f"before {MAKE}", *[f"after {MAKE}"] * 3),
        *(
            f"{when} {name}"
            for name in ("begin_grant_access", "upload_page", "begin_revoke_access", MAKE, "begin_delete")
            for when in ("before", "after")
        ),
        *("before begin_update_at_scope", "after begin_update_at_scope"),
    )
    # The footer is one, too.
    put, closing, blocks = "after upload_page", "before begin_revoke_access", len(USED) + 1
    refusal = r"^southcentralus: Azure has refused \(AllocationFailed\).*goes on with it"
    taken = r"Gallery taken has another image with the name cpu-1\.36\.2/"

    def __init__(self, azure: LocalAzure) -> None:
        self.azure = azure

    def store(self, folder: Path, fleet: str, regions: int = 3) -> Azure:
        return store(self.azure, folder, fleet, REGIONS[:regions])

    def interrupted(self, store: Any, due: Callable[[str], bool]) -> contextlib.AbstractContextManager[None]:
        return interrupted(store, due)

    def refuse(self) -> None:
        match = {"type": "Microsoft.Compute/galleries/images/versions"}
        self.azure.own("faults", [{"match": match, "status": 409, "code": "AllocationFailed"}])

    def calm(self) -> None:
        self.azure.own("faults", [])

    def sent(self, store: Any) -> list[Any]:
        return list(store.definitions())

    def assert_whole(self, store: Any, folder: Path, image: Baked) -> None:
        compute, name = store.clients.compute, f"{image.variant}-{KUBERNETES}"
        definition = compute.gallery_images.get(store.group, store.gallery, name)
        assert (definition.hyper_v_generation, definition.os_state) == ("V2", "Generalized")
        assert definition.location == REGIONS[0]
        assert {one.name: one.value for one in definition.features} == {
            "SecurityType": "TrustedLaunchSupported",
            "IsAcceleratedNetworkSupported": "True",
            "DiskControllerTypes": "SCSI, NVMe",
        }
        version = store.version(name, names.version(image.digest))
        assert version is not None
        copies = {one.region: one.state for one in version.replication_status.summary}
        assert copies == dict.fromkeys(REGIONS, "Completed")
        assert version.publishing_profile.exclude_from_latest
        assert all(one.exclude_from_latest for one in version.publishing_profile.target_regions)
        assert (version.tags[tags.DIGEST], version.tags[tags.DRIVER]) == (image.digest, image.driver or "none")
        assert list(compute.disks.list_by_resource_group(store.group)) == [], "nothing is left of the upload"

    def images(self, store: Any, folder: Path, *marks: str) -> list[str]:
        return published(store, folder, *marks)

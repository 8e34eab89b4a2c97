"""The fleet's gallery of images in Azure, by our own sign-in."""

import base64
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from azure.core.exceptions import ResourceNotFoundError

from fleet import images as tags
from fleet.azure import images as names
from fleet.image_names import ImageVariant
from fleet.model import Channel, Fleet
from images.stores.azure import publish
from images.stores.azure.account import Clients
from images.stores.azure.calls import clear_errors
from images.stores.azure.store import Azure
from images.stores.blocks import WORKERS
from images.stores.publishing import Waits
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from local import standins
from local.kubernetes import VERSIONS

from .sign_in import credential

ARM = "https://management.azure.com/.default"
# Who a token says it is of, the most readable first.
CLAIMS = ("upn", "unique_name", "app_displayname", "appid", "oid")
# Stacks of one run ask beside each other, and Azure takes one write of a thing at a time.
_making = threading.Lock()


def store(fleet: Fleet, regions: Sequence[str], journals: Path, waits: Waits) -> Azure:
    assert fleet.azure is not None  # fleet.regions: no region in Azure without a subscription
    subscription = fleet.azure.subscription_id
    return Azure(fleet.fleet, subscription, regions, clients(subscription), journals, waits)


def clients(subscription: str) -> Clients:
    # A second of imports that few runs need.
    from azure.mgmt.compute import ComputeManagementClient
    from azure.mgmt.resource.resources import ResourceManagementClient

    signed_in = credential()
    return Clients(
        ComputeManagementClient(signed_in, subscription), ResourceManagementClient(signed_in, subscription), pages
    )


def pages(address: str) -> Any:
    """Writes pages at a disk's address, several at a time."""
    import requests
    from azure.core.pipeline.transport import RequestsTransport
    from azure.storage.blob import BlobClient

    session = requests.Session()
    session.mount("https://", requests.adapters.HTTPAdapter(pool_maxsize=WORKERS))
    return BlobClient.from_blob_url(address, transport=RequestsTransport(session=session))


def who(place: str) -> str:
    """Raises ImageError where nobody is signed in."""
    with clear_errors(place):
        part = credential().get_token(ARM).token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return str(next((claims[name] for name in CLAIMS if claims.get(name)), "somebody"))


def ensure(
    place: Place, region: str, fleet: Fleet, kubernetes: str, variant: ImageVariant = "cpu", channel: Channel = "stable"
) -> str | None:
    """As machine_image.ensure: on the local cloud a channel without an image gets the market's, marked as one of ours.

    Raises LandbridgeError when there is no image, and ImageError where Azure refuses to say so.
    """
    definition = names.definition(kubernetes, variant)
    at = store(fleet, [region], Path(), Waits(0.2, 600))
    with _making, clear_errors(region):
        if _channel_version(at, definition, region, channel):
            return None
        if place.world != "local":
            raise LandbridgeError(
                f"{region} has no image with Kubernetes {kubernetes}: nothing has been promoted to channel {channel} "
                f"of {definition} in gallery {at.gallery}. Promote one first; until then machines that die would have "
                "no successor."
            )
        if kubernetes not in VERSIONS:
            raise LandbridgeError(
                f"The local cloud has no image with Kubernetes {kubernetes}, only with {', '.join(VERSIONS)}."
            )
        number = names.version(standins.digest(variant, kubernetes))
        _stand_in(at, region, variant, kubernetes, number)
        told_ = {"operation": "Merge", "properties": {"tags": {names.tag(channel, region): number}}}
        at.clients.resources.tags.begin_update_at_scope(f"{at.images}/{definition}", told_).result()
    return at.id(definition, number)


def _channel_version(at: Azure, definition: str, region: str, channel: Channel) -> str:
    try:
        found = at.clients.compute.gallery_images.get(at.group, at.gallery, definition)
    except ResourceNotFoundError:
        return ""
    return names.channel_version(dict(found.tags or {}), region, channel)


def _stand_in(at: Azure, region: str, variant: ImageVariant, kubernetes: str, number: str) -> None:
    """A version of a disk of the market's image, in the region and wherever it was already."""
    compute, definition = at.clients.compute, names.definition(kubernetes, variant)
    home = publish.gallery(at, variant, kubernetes)
    version = at.version(definition, number)
    there = [] if version is None else [one.name for one in version.publishing_profile.target_regions]
    if region in there:
        return
    disk = {"location": home, "sku": {"name": "Standard_LRS"}, "properties": {"creationData": _of_the_market(home)}}
    made = compute.disks.begin_create_or_update(at.group, f"market-{variant}", disk).result()
    driver = standins.driver(standins.image(variant, kubernetes)) or tags.DRIVERLESS
    wanted = [publish.target(name) for name in dict.fromkeys((home, *there, region))]
    body = {
        "location": home,
        "tags": {tags.TAG: kubernetes, tags.VARIANT: variant, tags.DRIVER: driver},
        "properties": {
            "publishingProfile": {"targetRegions": wanted, "excludeFromLatest": True},
            "storageProfile": {"osDiskImage": {"source": {"id": made.id}}},
        },
    }
    if version is not None:
        change = {"properties": {"publishingProfile": {"targetRegions": wanted}}}
        compute.gallery_image_versions.begin_update(at.group, at.gallery, definition, number, change).result()
    else:
        compute.gallery_image_versions.begin_create_or_update(at.group, at.gallery, definition, number, body).result()
    compute.disks.begin_delete(at.group, f"market-{variant}").result()


def _of_the_market(region: str) -> dict[str, Any]:
    base = names.BASE
    path = (
        f"/Subscriptions/00000000-0000-0000-0000-000000000000/Providers/Microsoft.Compute/Locations/{region}/Publishers/"
        f"{base.publisher}/ArtifactTypes/VMImage/Offers/{base.offer}/Skus/{base.sku}/Versions/{base.version}"
    )
    return {"createOption": "FromImage", "imageReference": {"id": path}}

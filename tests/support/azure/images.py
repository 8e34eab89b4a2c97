"""An image in a fleet's gallery in the local Azure, as publishing and promotion leave it."""

from datetime import UTC, datetime

from fleet.azure import images as names
from fleet.image_names import STABLE, ImageVariant
from fleet.images import DRIVER, TAG
from tests.support.cloud import Cloud

VERSION = "1.2.3"


def publish(
    cloud: Cloud,
    fleet: str,
    subscription: str,
    regions: list[str],
    kubernetes: str,
    kind: ImageVariant = "cpu",
    *,
    version: str = VERSION,
) -> str:
    """Its version's id. The channel stable says it in each of the regions, of which the first is the gallery's."""
    group = f"/subscriptions/{subscription}/resourceGroups/{names.group(fleet)}"
    provider = f"{group}/providers/Microsoft.Compute"
    at = {"location": regions[0]}
    cloud.azure("PUT", group, at)
    disk = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 30, "osType": "Linux"}
    cloud.azure("PUT", f"{provider}/disks/{kind}", {**at, "sku": {"name": "Standard_LRS"}, "properties": disk})
    gallery = f"{provider}/galleries/{names.gallery(fleet)}"
    cloud.azure("PUT", gallery, {**at, "properties": {}}, "2024-03-03")
    image = f"{gallery}/images/{names.definition(kubernetes, kind)}"
    about = {
        "osType": "Linux",
        "osState": "Generalized",
        "hyperVGeneration": "V2",
        "identifier": {"publisher": "p", "offer": "o", "sku": kind},
        "features": [{"name": "SecurityType", "value": "TrustedLaunchSupported"}],
    }
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    channels = {names.tag(STABLE, region): f"{version} {now}" for region in regions}
    cloud.azure("PUT", image, {**at, "tags": channels, "properties": about}, "2024-03-03")
    made = {
        "publishingProfile": {"targetRegions": [{"name": region} for region in regions]},
        "storageProfile": {"source": {"id": f"{provider}/disks/{kind}"}},
    }
    tags = {TAG: kubernetes, **({DRIVER: "580.1"} if kind == "gpu" else {})}
    path = f"{image}/versions/{version}"
    cloud.azure("PUT", path, {**at, "tags": tags, "properties": made}, "2024-03-03")
    return path

"""Which image a machine starts from: a version of a gallery, the latest of a gallery's image, or the market's."""

import re
from typing import Any

from .. import ids
from ..errors import ArmError, bad_request
from ..kinds import World
from ..store import Resource

GALLERY = "Microsoft.Compute/galleries"
IMAGE, VERSION = f"{GALLERY}/images", f"{GALLERY}/images/versions"
# The market's images that the local Azure knows: publisher, offer → SKUs.
MARKET = {
    ("canonical", "ubuntu-24_04-lts"): ("server", "server-gen1", "minimal"),
    ("debian", "debian-12"): ("12", "12-gen2"),
    ("canonical", "0001-com-ubuntu-server-jammy"): ("22_04-lts", "22_04-lts-gen2"),
}
# Of those, what is of the first generation, which has no UEFI.
FIRST_GENERATION = ("server-gen1", "22_04-lts", "12")
# What a gallery's image may say that machines of it can have (Azure docs, "Azure Compute Gallery", image features), and
# which of it lets a machine be of Trusted Launch.
FEATURES = {
    "SecurityType": (
        "Standard",
        "TrustedLaunchSupported",
        "TrustedLaunch",
        "TrustedLaunchAndConfidentialVmSupported",
        "ConfidentialVmSupported",
        "ConfidentialVM",
    ),
    "IsAcceleratedNetworkSupported": ("True", "False"),
    "IsHibernateSupported": ("True", "False"),
    "DiskControllerTypes": ("SCSI", "NVMe", "SCSI, NVMe", "SCSI,NVMe"),
}
TRUSTED = ("TrustedLaunchSupported", "TrustedLaunch", "TrustedLaunchAndConfidentialVmSupported")
MARKET_VERSION = "24.04.202510010"
OS_DISK_GIB = 30
# As disks say what they were made of.
MARKET_ID = re.compile(
    r"(?i)/Publishers/(?P<publisher>[^/]+)/ArtifactTypes/VMImage/Offers/(?P<offer>[^/]+)/Skus/(?P<sku>[^/]+)"
    r"/Versions/(?P<version>[^/]+)$"
)


def resolve(world: World, reference: dict[str, Any], location: str) -> dict[str, Any]:
    """`imageReference` as a machine tells of it, with the exact version. Raises ArmError for one that is not there."""
    if found := MARKET_ID.search(str(reference.get("id", ""))):
        reference = found.groupdict()
    if reference.get("id"):
        version = gallery_version(world, str(reference["id"]), location)
        return {"id": reference["id"], "exactVersion": version.id.name}
    name = tuple(str(reference.get(part, "")).lower() for part in ("publisher", "offer"))
    if str(reference.get("sku", "")).lower() not in MARKET.get(name, ()):  # type: ignore[arg-type]
        urn = ":".join(str(reference.get(part)) for part in ("publisher", "offer", "sku", "version"))
        message = (
            f"The platform image '{urn}' is not available. Verify that all fields in the storage profile are correct."
        )
        raise ArmError(404, "PlatformImageNotFound", message)
    version_told = str(reference.get("version", "latest"))
    return {**reference, "exactVersion": MARKET_VERSION if version_told == "latest" else version_told}


def require_security(world: World, resolved: dict[str, Any], security: str, location: str) -> None:
    """Raises ArmError for a machine of Trusted Launch from an image that is not fit for it."""
    if security != "TrustedLaunch":
        return
    if not resolved.get("id"):
        fit = str(resolved.get("sku", "")).lower() not in FIRST_GENERATION
    else:
        definition = world.store.get(gallery_version(world, str(resolved["id"]), location).id.parent or "")
        features = {one["name"]: one["value"] for one in definition.properties.get("features") or ()}
        fit = features.get("SecurityType") in TRUSTED
    if not fit:
        message = "The provided image only supports creation of VMs and VM Scale Sets with 'Standard' security type."
        raise bad_request("BadRequest", message)


def check_features(properties: dict[str, Any]) -> None:
    """Of a gallery's image. Raises ArmError."""
    for one in properties.get("features") or ():
        name, value = one.get("name"), one.get("value")
        if value not in FEATURES.get(str(name), ()):
            raise bad_request("InvalidParameter", f"The image feature {name} cannot be '{value}'.")
        if name == "SecurityType" and value != "Standard" and properties.get("hyperVGeneration") != "V2":
            raise bad_request("InvalidParameter", f"The image feature {name} '{value}' wants hyperVGeneration V2.")


def gallery_version(world: World, reference: str, location: str) -> Resource:
    """The version that an id leads to: of a version, or of an image, which means its latest. Raises ArmError."""
    found = world.store.find(reference)
    if found is None or not ids.same(found.id.namespace, "Microsoft.Compute"):
        raise ArmError(404, "GalleryImageNotFound", f"The gallery image {reference} could not be found.")
    if ids.same(found.id.type, VERSION):
        if ids.same(found.properties.get("provisioningState"), "Failed") or not _replicated(found, location):
            raise _elsewhere(reference, location)
        return found
    if not ids.same(found.id.type, IMAGE):
        raise bad_request("InvalidParameter", f"{reference} is no gallery image that a machine can start from.")
    versions = [one for one in world.store.children(found, VERSION) if _counts(one, location)]
    if not versions:
        raise _elsewhere(reference, location)
    return max(versions, key=lambda one: number(one.id.name))


def of_machine(world: World, machine: Resource) -> Resource | None:
    """The gallery's version that it was started from; None for the market's, and for one that is gone by now."""
    reference = (machine.properties.get("storageProfile") or {}).get("imageReference") or {}
    id_ = str(reference.get("id", ""))
    return world.store.find(f"{id_}/versions/{reference.get('exactVersion')}") or world.store.find(id_)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _target(version: Resource, location: str) -> dict[str, Any] | None:
    targets = (version.properties.get("publishingProfile") or {}).get("targetRegions") or ()
    return next((one for one in targets if ids.location(str(one["name"])) == location), None)


def _replicated(version: Resource, location: str) -> bool:
    return _target(version, location) is not None and location in version.state.get("replicas", ())


def _counts(version: Resource, location: str) -> bool:
    """Whether it can be the latest there."""
    profile, target = version.properties.get("publishingProfile") or {}, _target(version, location) or {}
    hidden = profile.get("excludeFromLatest") or target.get("excludeFromLatest")
    return not hidden and version.properties.get("provisioningState") == "Succeeded" and _replicated(version, location)


def _elsewhere(reference: str, location: str) -> ArmError:
    message = (
        f"The gallery image {reference} is not available in {location} region. Please contact image owner to replicate "
        f"to this region, or change your requested region."
    )
    return ArmError(404, "GalleryImageNotFound", message)


def size_gib(world: World, resolved: dict[str, Any], location: str) -> int:
    """Of the OS disk that `resolve` led to."""
    if not resolved.get("id"):
        return OS_DISK_GIB
    version = gallery_version(world, str(resolved["id"]), location)
    return int(version.properties["storageProfile"]["osDiskImage"].get("sizeInGB", OS_DISK_GIB))


def disk_reference(world: World, resolved: dict[str, Any], location: str) -> dict[str, Any]:
    """`creationData`'s part that says from which image a disk is."""
    if resolved.get("id"):
        return {"galleryImageReference": {"id": gallery_version(world, str(resolved["id"]), location).id.text}}
    values = {**resolved, "location": location}
    path = (
        "/Subscriptions/00000000-0000-0000-0000-000000000000/Providers/Microsoft.Compute/Locations/{location}/Publishers/"
        "{publisher}/ArtifactTypes/VMImage/Offers/{offer}/Skus/{sku}/Versions/{exactVersion}"
    )
    return {"imageReference": {"id": path.format(**values)}}

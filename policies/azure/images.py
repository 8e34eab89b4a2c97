"""What machines in Azure start from: versions of the fleet's gallery, a pool's of its own image, or the market's one.

Which version a channel says, and how old that is, the stack's program looks up (components/boot/azure/image.py) and
refuses by itself.
"""

from collections.abc import Iterator
from typing import Any

from fleet.azure import images as names
from fleet.world import World

from ..boot import POOL
from ..reading import UNKNOWN, Finding, Item, finding, of_types, tag, undecidable, values

REFERENCE = "storageProfile.imageReference"
# Type → where it says which version, and whose of the market's.
STARTS = {
    "azure-native:compute:VirtualMachine": (f"{REFERENCE}.id", f"{REFERENCE}.publisher"),
    "azure-native:compute:VirtualMachineScaleSet": (
        f"virtualMachineProfile.{REFERENCE}.id",
        f"virtualMachineProfile.{REFERENCE}.publisher",
    ),
}
# Ids of images that are somebody else's.
FOREIGN = ("communityGalleryImageId", "sharedGalleryImageId")


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in of_types(found, STARTS):
        for path in STARTS[item.type]:
            reference = next(iter(values(item.props, path.rpartition(".")[0])), None)
            pool = tag(item, POOL)
            if UNKNOWN in (reference, pool):
                yield undecidable(item, path if reference is UNKNOWN else f"tags.{POOL}")._replace(path=path)
            elif path.endswith(".id"):
                yield from _version(item, path, reference or {}, pool, world)
            elif pool not in world.fleet.pools:  # pools take nothing of the market: policies/azure/pools.py
                yield from _market(item, path, reference or {})


def _version(item: Item, path: str, reference: dict[str, Any], pool: Any, world: World) -> Iterator[Finding]:
    id_, fleet = reference.get("id"), world.fleet
    if foreign := next((name for name in FOREIGN if reference.get(name)), None):
        yield finding(item, path, f"the image is {foreign} {reference[foreign]}", "Start from the fleet's own gallery")
    if id_ is UNKNOWN:
        yield undecidable(item, path)
        return
    if pool in fleet.pools:
        wanted = names.of_pool(fleet, pool)
        what = f"the image of pool {pool}"
    else:
        # Any of the fleet's: of a machine that is of no pool the program alone knows what it is.
        wanted, what = names.image_id(fleet, "").rpartition("/")[0], "the image"
    remedy = f"Take a version of {wanted}, which the channel names"
    named = names.VERSION.match(str(id_ or ""))
    if not id_:
        if pool in fleet.pools and not reference.get("publisher"):
            yield finding(item, path, f"{what} is missing", remedy)
    elif named is None:
        yield finding(item, path, f"{what} is {id_}, which is no version of a gallery's image", remedy)
    elif not f"{named['image']}/".lower().startswith(f"{wanted}/".lower()):
        yield finding(item, path, f"{what} is of {named['image']}, and not of {wanted}", remedy)


def _market(item: Item, path: str, reference: dict[str, Any]) -> Iterator[Finding]:
    """One image, whole: `latest` is another one every month."""
    attributes = {name: reference.get(name) for name in names.Base._fields}
    if UNKNOWN in attributes.values():
        yield undecidable(item, path)
    elif any(attributes.values()) and attributes != names.BASE.reference():
        urn = ":".join(str(value or "") for value in attributes.values())
        remedy = f"Start from the fleet's own gallery, or from {names.BASE.urn}"
        yield finding(item, path, f"the image is {urn} of the market", remedy)

"""Node images in Azure: a gallery of the fleet, an image in it for each variant and Kubernetes, a version a bake.

All names follow from the fleet file and a bake's digest. What a channel says in a region is a tag of the image:
`landbridge:CHANNEL:REGION`, whose value begins with the version (docs/decisions/0038-a-gallery-of-the-fleet.md).
"""

import re
from typing import Literal, NamedTuple

from ..image_names import CHANNELS, STABLE, ImageVariant
from ..model import Fleet
from .ids import subscription

PROVIDER = "Microsoft.Compute/galleries"
PREFIX = "landbridge"
# On a version: since when it is not to be used in a region, and since when nothing takes it from there.
DEPRECATED, DISABLED = "deprecated", "disabled"
# A name of Azure's is of three numbers: four digits of the bake's each.
DIGITS = 4
VERSION = re.compile(
    r"(?i)^(?P<image>/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/galleries/[^/]+/images/[^/]+)"
    r"/versions/(?P<version>\d+\.\d+\.\d+)$"
)


class Base(NamedTuple):
    """One image of Azure's market, whole: `latest` would be another one every month."""

    publisher: str
    offer: str
    sku: str
    version: str

    @property
    def urn(self) -> str:
        return ":".join(self)

    def reference(self) -> dict[str, str]:
        """As machines' `imageReference` has it."""
        return self._asdict()


# What the local cloud's images are made of, and the only one of the market that machines may start from. Of the second
# generation: UEFI, as our own. `az vm image list --all --publisher Debian --offer debian-12` knows newer ones.
BASE = Base("Debian", "debian-12", "12-gen2", "0.20230612.1409")


def group(fleet: str) -> str:
    """The resource group of the gallery: of no region, so that no region's end takes images of others along."""
    return f"{fleet}-images"


def gallery(fleet: str) -> str:
    """Azure takes letters, digits, dots and underscores; a fleet's name has hyphens and no dots."""
    return fleet.replace("-", ".")


def definition(kubernetes: str, variant: str) -> str:
    return f"{variant}-{kubernetes}"


def image_id(fleet: Fleet, kubernetes: str, variant: ImageVariant = "cpu") -> str:
    """Of what Azure calls an image's definition."""
    place = f"{subscription(fleet)}/resourceGroups/{group(fleet.fleet)}/providers/{PROVIDER}/{gallery(fleet.fleet)}"
    return f"{place}/images/{definition(kubernetes, variant)}"


def of_pool(fleet: Fleet, name: str) -> str:
    """The image of a pool in a region; its channel there says which version."""
    pool = fleet.pools[name]
    return image_id(fleet, fleet.clusters[pool.cluster].kubernetes, "gpu" if pool.gpus else "cpu")


def version(digest: str) -> str:
    """A version's name by the first twelve digits of a bake's digest, which its name ends in."""
    return ".".join(str(int(digest[at : at + DIGITS], 16)) for at in range(0, 3 * DIGITS, DIGITS))


def digits(version_: str) -> str:
    """The other way round."""
    return "".join(f"{int(part):0{DIGITS}x}" for part in version_.split("."))


def tag(channel: str, region: str) -> str:
    """Of an image for a channel; of a version for `DEPRECATED` and `DISABLED`."""
    return f"{PREFIX}:{channel}:{region}"


def pointer(name: str) -> tuple[str, str] | None:
    """Channel and region of such a tag; None for another tag."""
    parts = name.split(":")
    return (parts[1], parts[2]) if len(parts) == 3 and parts[0] == PREFIX and parts[1] in CHANNELS else None


def channel_version(tags: dict[str, str], region: str, channel: Literal["stable", "candidate"] = STABLE) -> str:  # type: ignore[assignment]
    """The version that a channel says in a region; empty where it says none."""
    return tags.get(tag(channel, region), "").partition(" ")[0]

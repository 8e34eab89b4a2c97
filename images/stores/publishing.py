"""What publishing to either cloud has in common: an image's tags there, patience, and words for those who wait."""

import datetime
from collections.abc import Mapping
from typing import NamedTuple

from fleet import images as tags

from ..baked import Baked, Format
from ..errors import ImageError
from .store import Published, State

# On every image: whose it is, and the SHA-256 of its disk.
FLEET, DISK = "landbridge:fleet", "landbridge:disk"
GOES_ON = ". What is there is kept: the same command goes on with it. No channel names it yet"


class Waits(NamedTuple):
    """How often and how long to ask: an encrypted copy to another region has taken more than an hour."""

    delay_seconds: float = 30
    attempts: int = 480


def image_tags(fleet: str, name: str, image: Baked, disk: Format) -> dict[str, str]:
    """`name` is what the cloud calls it, `disk` the form of what was brought there."""
    return {
        "Name": name,
        FLEET: fleet,
        tags.TAG: image.kubernetes,
        tags.NAME: image.name,
        tags.VARIANT: image.variant,
        tags.DIGEST: image.digest,
        tags.DRIVER: image.driver or tags.DRIVERLESS,
        DISK: image.disks[disk].sha256,
    }


def refuse_other(found: Mapping[str, str], image: Baked, disk: Format, taken: str) -> None:
    """Raises ImageError if what has the image's name is another one, by its tags; `taken` says what has it where."""
    if found.get(tags.DIGEST) != image.digest or found.get(DISK) != image.disks[disk].sha256:
        raise ImageError(
            f"{taken}: its tags name another digest. Take it away, if nothing starts from it, and publish again; "
            "nothing was published"
        )


def published(
    place: str,
    id_: str,
    found: Mapping[str, str],
    created: datetime.datetime,
    state: State,
    since: datetime.datetime,
) -> Published:
    """As its tags have it."""
    driver = found.get(tags.DRIVER, tags.DRIVERLESS)
    return Published(
        place,
        id_,
        found[tags.NAME],
        found.get(tags.VARIANT, ""),
        found.get(tags.TAG, ""),
        found.get(tags.DIGEST, ""),
        None if driver == tags.DRIVERLESS else driver,
        created,
        state,
        since,
    )

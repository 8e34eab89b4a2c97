"""What every place for images can do: a cloud's regions, a site's folder. Nothing else knows which of them it is.

A store has places, and each place has images and pointers. A pointer is a channel of a variant and a Kubernetes
version, and says which image machines start from; moving one is a single write in its place.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, get_args

from fleet.image_names import ImageVariant

from ..baked import Baked
from ..errors import ImageError

Tell = Callable[[str], None]
# In the order that garbage collection takes an image through. `failed` is what a cloud could not copy.
State = Literal["pending", "available", "deprecated", "disabled", "failed"]


class PointerKey(NamedTuple):
    """Which pointer of a place."""

    variant: str
    kubernetes: str
    channel: str

    def __str__(self) -> str:
        return f"{self.variant}/{self.kubernetes}/{self.channel}"


class Record(NamedTuple):
    """Who moved a pointer, when, what for, and from which image."""

    who: str
    when: datetime.datetime
    why: str
    before: str


class Pointer(NamedTuple):
    """`image` is an id in the place; `previous` the one that it said before, empty where there was none."""

    place: str
    key: PointerKey
    image: str
    previous: str
    record: Record


class Published(NamedTuple):
    """An image in a place; `since` is when its state began."""

    place: str
    id: str
    name: str
    variant: str
    kubernetes: str
    digest: str
    driver: str | None
    created: datetime.datetime
    state: State
    since: datetime.datetime


class Store(Protocol):
    """Every call raises ImageError, told in full, where the place refuses or can't be reached."""

    @property
    def places(self) -> Sequence[str]: ...

    def publish(self, folder: Path, image: Baked, tell: Tell) -> Mapping[str, str]:
        """The image's id in each place, once it is whole in all of them. Goes on where it was interrupted."""

    def published(self, place: str) -> list[Published]: ...

    def exists(self, place: str, image: str) -> bool:
        """Whether machines can start from an image of this id, whoever made it."""

    def pointers(self, place: str) -> list[Pointer]: ...

    def point(self, place: str, key: PointerKey, image: str, record: Record) -> None:
        """Moves one pointer, in one write."""

    def users(self, place: str) -> Mapping[str, Sequence[str]]:
        """Id → what uses it, beside the pointers."""

    def restore(self, image: Published) -> None:
        """Takes back what `deprecate` and `disable` did."""

    def deprecate(self, image: Published) -> None: ...

    def disable(self, image: Published) -> None: ...

    def remove(self, image: Published) -> None:
        """The image with its disk, for good."""


def require_channel(image: Baked) -> None:
    """Raises ImageError for a variant that no channel of a cloud is for."""
    if image.variant not in get_args(ImageVariant):
        known = ", ".join(get_args(ImageVariant))
        raise ImageError(f"{image.name}: no channel is for variant {image.variant}, only for {known}. Nothing was done")

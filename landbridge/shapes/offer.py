"""A machine type as a cloud offers it in one region to whoever asks."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from fleet.shape_book import BookShape

Way = Literal["on demand", "spot"]


class AwayError(Exception):
    """A cloud could not be asked. The text says what and why, with no full stop."""


class Offer(NamedTuple):
    """`shape` has the zones that offer it. `ways` it is sold in. `unfit`: why node images are not made for it.

    `restricted`: why this account or subscription gets none in the region; `restricted_zones`, in a zone.
    """

    shape: BookShape
    ways: Sequence[Way] = ("on demand", "spot")
    unfit: str = ""
    restricted: str = ""
    restricted_zones: Mapping[str, str] = {}


# By instance type. A type that is not in it is not offered there.
Offers = Mapping[str, Offer]

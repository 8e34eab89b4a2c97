"""The regions of several clouds as one store: each call goes to the cloud that has the place."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..baked import Baked
from .store import Pointer, PointerKey, Published, Record, Store, Tell


class Clouds:
    """Places are told in the order of `order`, whichever cloud has them."""

    def __init__(self, stores: Sequence[Store], order: Sequence[str]) -> None:
        self.stores = stores
        self.of = {place: store for store in stores for place in store.places}
        self.places: Sequence[str] = tuple(place for place in order if place in self.of)

    def publish(self, folder: Path, image: Baked, tell: Tell) -> Mapping[str, str]:
        """To one cloud after the other: a copy takes clouds longer than the uplink takes from here."""
        found: dict[str, str] = {}
        for store in self.stores:
            found |= store.publish(folder, image, tell)
        return found

    def published(self, place: str) -> list[Published]:
        return self.of[place].published(place)

    def exists(self, place: str, image: str) -> bool:
        return self.of[place].exists(place, image)

    def pointers(self, place: str) -> list[Pointer]:
        return self.of[place].pointers(place)

    def point(self, place: str, key: PointerKey, image: str, record: Record) -> None:
        self.of[place].point(place, key, image, record)

    def users(self, place: str) -> Mapping[str, Sequence[str]]:
        return self.of[place].users(place)

    def restore(self, image: Published) -> None:
        self.of[image.place].restore(image)

    def deprecate(self, image: Published) -> None:
        self.of[image.place].deprecate(image)

    def disable(self, image: Published) -> None:
        self.of[image.place].disable(image)

    def remove(self, image: Published) -> None:
        self.of[image.place].remove(image)

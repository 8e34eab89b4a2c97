"""Images in Azure's regions: versions in the fleet's gallery with copies in each, pointers as tags of its images.

One disk goes to Azure, which copies it. A version's name follows from the bake's digest, so that a publish that was
interrupted finds what is there, and goes on. No version is ever `latest`: machines name the one that a channel says.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from azure.core.exceptions import ResourceNotFoundError

from fleet import images as tags
from fleet.azure import images as names
from fleet.image_names import ImageVariant

from ...baked import Baked, name_of
from ..publishing import published
from ..store import Pointer, PointerKey, Published, Record, State, Tell, require_channel
from . import publish as azure_publish
from . import uses
from .account import Account
from .calls import BUSY, clear_errors, region, replicas, state, targets

STATES: Mapping[str, State] = {"Completed": "available", "Failed": "failed"}
# A tag's value has 256 characters, of which who moved it gets what the rest leaves.
LONGEST_WHO = 128


class Azure(Account):
    """Regions are told in order: the gallery is made in the first of them."""

    def publish(self, folder: Path, image: Baked, tell: Tell) -> Mapping[str, str]:
        require_channel(image)
        return azure_publish.publish(self, folder, image, tell)

    def definitions(self) -> list[Any]:
        """The gallery's images; none where there is no gallery yet. Raises AzureError."""
        try:
            return list(self.clients.compute.gallery_images.list_by_gallery(self.group, self.gallery))
        except ResourceNotFoundError:
            return []

    def versions(self) -> Iterator[tuple[str, Any]]:
        """With the name of the image that each is of. Raises AzureError."""
        listed = self.clients.compute.gallery_image_versions.list_by_gallery_image
        for definition in self.definitions():
            for one in listed(self.group, self.gallery, definition.name):
                # A list does not say how copies are: of one that is whole nobody need ask.
                whole = state(one) == "Succeeded"
                if found := one if whole else self.version(definition.name, one.name):
                    yield definition.name, found

    def published(self, place: str) -> list[Published]:
        with clear_errors(place):
            return [
                self._published(place, definition, one)
                for definition, one in self.versions()
                if tags.NAME in (one.tags or {}) and place in targets(one)
            ]

    def _published(self, place: str, definition: str, version: Any) -> Published:
        found_tags, created = dict(version.tags), version.publishing_profile.published_date
        found, since = _state(version, place), created
        for step in (names.DEPRECATED, names.DISABLED):
            if found != "failed" and (when := found_tags.get(names.tag(step, place))):
                found, since = step, datetime.datetime.fromisoformat(when)  # type: ignore[assignment]
        return published(place, self.id(definition, version.name), found_tags, created, found, since)

    def exists(self, place: str, image: str) -> bool:
        found = names.VERSION.match(image)
        with clear_errors(place):
            one = self.version(found["image"].rpartition("/")[2], found["version"]) if found else None
        if one is None or place not in targets(one) or names.tag(names.DISABLED, place) in (one.tags or {}):
            return False
        return _state(one, place) == "available"

    def pointers(self, place: str) -> list[Pointer]:
        with clear_errors(place):
            definitions = self.definitions()
        found = []
        for one in definitions:
            variant, _, kubernetes = one.name.partition("-")
            for name, value in (one.tags or {}).items():
                channel = names.pointer(name)
                if channel and channel[1] == place and variant in get_args(ImageVariant):
                    found.append(self._pointer(place, PointerKey(variant, kubernetes, channel[0]), value))
        return found

    def _pointer(self, place: str, key: PointerKey, value: str) -> Pointer:
        """Nothing but the version is known of one that was set by hand."""
        current, previous, when, why, before, who = [*value.split(" ", 5), *[""] * 6][:6]
        try:
            at = datetime.datetime.fromisoformat(when)
        except ValueError:
            at = datetime.datetime.fromtimestamp(0, datetime.UTC)

        def of(version: str) -> str:
            return self.id(names.definition(key.kubernetes, key.variant), version) if version.strip("-") else ""

        named = of(before) if "." in before else _named(key, before)
        record = Record(who, at, why, named)
        return Pointer(place, key, of(current), of(previous), record)

    def point(self, place: str, key: PointerKey, image: str, record: Record) -> None:
        now = next((one for one in self.pointers(place) if one.key == key), None)
        previous = "" if now is None else now.image if now.image != image else now.previous
        words = [_number(image), _number(previous), record.when.isoformat(timespec="milliseconds"), record.why]
        words += [_digits(record.before), record.who[:LONGEST_WHO]]
        value = " ".join(word or "-" for word in words)
        scope = f"{self.images}/{names.definition(key.kubernetes, key.variant)}"
        self.tag(place, scope, "Merge", {names.tag(key.channel, place): value})

    def users(self, place: str) -> Mapping[str, Sequence[str]]:
        with clear_errors(place):
            found = uses.users(self.clients.compute, place)
            listed = [(self.id(definition, one.name), one) for definition, one in self.versions()]
        for id_, version in listed:
            # What the others are copies of stays until they are gone: Azure keeps a version in its own region.
            others = sorted(targets(version).keys() - {place})
            if region(version.location) == place and others:
                found.setdefault(id_.lower(), []).append(f"its copy in {others[0]}")
        return {id_: found[id_.lower()] for id_, _ in listed if id_.lower() in found}

    def restore(self, image: Published) -> None:
        self.unmark(image.place, image.id)

    def deprecate(self, image: Published) -> None:
        self._mark(image, names.DEPRECATED)

    def disable(self, image: Published) -> None:
        self._mark(image, names.DISABLED)

    def _mark(self, image: Published, step: str) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.tag(image.place, image.id, "Merge", {names.tag(step, image.place): now})

    def remove(self, image: Published) -> None:
        found = names.VERSION.match(image.id)
        assert found is not None  # Published.id is one of ours
        definition, version = found["image"].rpartition("/")[2], found["version"]
        with clear_errors(image.place):
            one = self.version(definition, version)
            if one is None:
                return
            others = [target for name, target in targets(one).items() if name != image.place]
            at, calls = (self.group, self.gallery, definition, version), self.clients.compute.gallery_image_versions
            if others:
                calls.begin_update(*at, {"properties": {"publishingProfile": {"targetRegions": others}}}).result()
            else:
                calls.begin_delete(*at).result()


def _state(version: Any, place: str) -> State:
    """Of its copy in a region."""
    if state(version) == "Succeeded":
        return "available"
    known = STATES.get(replicas(version).get(place, ""))
    return known or ("pending" if state(version) in BUSY else "failed")


def _number(image: str) -> str:
    return image.rpartition("/")[2]


def _digits(name: str) -> str:
    """Of a bake's name, whose rest follows from the pointer's place; the number of an image that we have not baked."""
    return _number(name) if "/" in name else name.rpartition("-")[2]


def _named(key: PointerKey, digits: str) -> str:
    return name_of(key.variant, key.kubernetes, digits) if digits.strip("-") else ""

"""A fleet's subscription of Azure, as its images need it: clients, the gallery's names, tags, versions."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from azure.core.exceptions import ResourceNotFoundError

from fleet.azure import images as names

from ...baked import Baked
from ..publishing import Waits, image_tags
from .calls import clear_errors


class Clients(NamedTuple):
    """Azure's own, of one subscription; `pages` gives one that writes pages at a disk's address."""

    compute: Any
    resources: Any
    pages: Callable[[str], Any]


class Account:
    """`places` are the regions that images are for."""

    def __init__(
        self,
        fleet: str,
        subscription: str,
        regions: Sequence[str],
        clients: Clients,
        journals: Path,
        waits: Waits = Waits(),  # noqa: B008
    ) -> None:
        self.fleet, self.places, self.journals, self.waits = fleet, tuple(regions), journals, waits
        self.clients = clients
        self.group, self.gallery = names.group(fleet), names.gallery(fleet)
        self.scope = f"/subscriptions/{subscription}/resourceGroups/{self.group}"
        self.images = f"{self.scope}/providers/{names.PROVIDER}/{self.gallery}/images"

    def tags(self, image: Baked) -> dict[str, str]:
        """On a version."""
        return image_tags(self.fleet, image.name, image, "vhd")

    def id(self, definition: str, version: str) -> str:
        return f"{self.images}/{definition}/versions/{version}"

    def version(self, definition: str, version: str) -> Any | None:
        """With how its copies are; None where there is none. Raises AzureError."""
        try:
            return self.clients.compute.gallery_image_versions.get(
                self.group, self.gallery, definition, version, expand="ReplicationStatus"
            )
        except ResourceNotFoundError:
            return None

    def unmark(self, place: str, version: str) -> None:
        markers = {names.tag(step, place): "" for step in (names.DEPRECATED, names.DISABLED)}
        self.tag(place, version, "Delete", markers)

    def tag(self, place: str, scope: str, operation: str, markers: dict[str, str]) -> None:
        """One write of a few tags: others, which somebody else writes meanwhile, stay as they are."""
        with clear_errors(place):
            self.clients.resources.tags.begin_update_at_scope(
                scope, {"operation": operation, "properties": {"tags": markers}}
            ).result()

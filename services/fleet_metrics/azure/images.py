"""When images were made that machines in a region of Azure start from: each scale set names a version of a gallery."""

from collections.abc import Collection, Mapping
from datetime import datetime

from .clients import Arm, errors

VERSION, GALLERY_VERSION = "2024-07-01", "2024-03-03"


class Region:
    """One thread calls it."""

    def __init__(self, region: str, client: object = None) -> None:
        self.region, self.arm = region, Arm(client)

    def created(self, named: Collection[str]) -> Mapping[str, float]:
        """By ids of scale sets, in the epoch. One that is not there, or whose image is not, is not told.

        Raises CloudError.
        """
        with errors(self.region):
            images = {one: id_ for one in named if (id_ := self._image(one))}
            made = {id_: self._published(id_) for id_ in {*images.values()}}
        return {one: when for one, id_ in images.items() if (when := made[id_]) is not None}

    def _image(self, scale_set: str) -> str:
        told = self.arm.get(scale_set, VERSION) or {}
        profile = (told.get("properties") or {}).get("virtualMachineProfile") or {}
        return str(((profile.get("storageProfile") or {}).get("imageReference") or {}).get("id") or "")

    def _published(self, image: str) -> float | None:
        told = self.arm.get(image, GALLERY_VERSION) or {}
        when = ((told.get("properties") or {}).get("publishingProfile") or {}).get("publishedDate")
        return datetime.fromisoformat(when).timestamp() if when else None

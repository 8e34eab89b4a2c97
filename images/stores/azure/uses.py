"""What uses images in a region of Azure, beside channels: machines, and scale sets by their models and instances."""

from collections.abc import Iterator
from typing import Any

from .calls import region as named


def users(compute: Any, region: str) -> dict[str, list[str]]:
    """A version's id in small letters → what uses it. Raises AzureError."""
    found: dict[str, list[str]] = {}
    for image, user in [*_machines(compute, region), *_sets(compute, region)]:
        found.setdefault(image.lower(), []).append(user)
    return found


def _machines(compute: Any, region: str) -> Iterator[tuple[str, str]]:
    for one in compute.virtual_machines.list_all():
        if named(one.location) == region and (image := _image(one)):
            yield image, f"machine {one.name}"


def _sets(compute: Any, region: str) -> Iterator[tuple[str, str]]:
    for one in compute.virtual_machine_scale_sets.list_all():
        if named(one.location) != region:
            continue
        profile = one.virtual_machine_profile
        if profile and (image := _image(profile)):
            yield image, f"scale set {one.name}"
        group = one.id.split("/")[4]
        for machine in compute.virtual_machine_scale_set_vms.list(group, one.name):
            if image := _image(machine):
                yield image, f"machine {machine.instance_id} of scale set {one.name}"


def _image(of: Any) -> str:
    reference = of.storage_profile.image_reference if of.storage_profile else None
    return str(reference.id or "") if reference else ""

"""Images of containers: what fleet/containers.lock has a digest of runs by that digest, and others are told of."""

from collections.abc import Iterator
from typing import Any

from fleet import container_lock, image_names
from fleet.world import World

from . import workloads
from .reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in, values

KINDS = ("initContainers", "containers")
# Machines' own images bring them, and nodes ask no registry: the services, and what holds a pod's place.
OF_MACHINES = (":".join(image_names.SERVICES), "registry.k8s.io/pause:")


def findings(found: list[Item], world: World) -> Iterator[Finding]:  # noqa: ARG001
    for item, path, image in _images(found):
        if image is UNKNOWN:
            yield undecidable(item, path)
            continue
        name, _, digest = image.partition("@")
        pin = container_lock.locked().get(name)
        if pin and pin.digest and digest != pin.digest:
            what = f"{name} runs by {digest or 'its tag alone'}, and is locked as {pin.digest}"
            yield finding(item, path, what, f"Name {pin.reference}, or lock another one by `make lock`")


def unlocked(found: list[Item], world: World) -> Iterator[Finding]:  # noqa: ARG001
    """One for a stack, that of the first workload which has any: a line for each would hide the others."""
    loose = [(item, path, str(image)) for item, path, image in _images(found) if _loose(image)]
    names = sorted({image for _, _, image in loose})
    if names:
        item, path, _ = loose[0]
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        what = f"{len(names)} of the stack's images are held by tags alone ({shown})"
        yield finding(item, path, what, "Name them with a digest; those of add-ons get theirs by `make lock`")


def _loose(image: Any) -> bool:
    return image is not UNKNOWN and "@sha256:" not in image and not image.startswith(OF_MACHINES)


def _images(found: list[Item]) -> Iterator[tuple[Item, str, Any]]:
    """Workload, path, and the image or UNKNOWN, once for each that a workload has."""
    for item in of_types(found, workloads.WORKLOADS):
        for place in workloads.WORKLOADS[item.type]:
            for kind in KINDS:
                path = f"{place}.{kind}.image"
                listed = list(values(item.props, path))
                if unknown_in(listed):
                    yield item, path, UNKNOWN
                yield from ((item, path, one) for one in dict.fromkeys(listed) if isinstance(one, str))

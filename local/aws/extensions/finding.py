"""Instances and tags are found by their id, not by a look at all there are: with thousands, each launch took seconds.

moto walks through every reservation for one instance, and through every tag of a region for those of one resource.
"""

from typing import Any
from weakref import WeakKeyDictionary

from moto.ec2.models import EC2Backend
from moto.ec2.models.tags import TagBackend
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix

from .patching import override

# Not in the backends themselves, which are written to disk.
_KNOWN: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
RESOURCES, PATTERNS = "resource-id", "*?"


def install() -> None:
    """The answers are moto's own."""

    @override(EC2Backend, "get_instance")
    def get_instance(self: Any, original: Any, instance_id: str) -> Any:
        known = _KNOWN.setdefault(self, {})
        if instance_id not in known:
            known.clear()
            known.update((one.id, one) for made in list(self.reservations.values()) for one in made.instances)
        return known.get(instance_id) or original(instance_id)

    @override(TagBackend, "describe_tags")
    def describe_tags(self: Any, original: Any, filters: dict[str, list[str]] | None = None) -> Any:
        named = (filters or {}).get(RESOURCES)
        if not named or set(filters or {}) != {RESOURCES} or any(sign in one for one in named for sign in PATTERNS):
            return original(filters)
        return [
            {
                "resource_id": id_,
                "key": key,
                "value": value,
                "resource_type": EC2_PREFIX_TO_RESOURCE.get(get_prefix(id_), ""),
            }
            for id_ in dict.fromkeys(named)
            for key, value in (self.tags.get(id_) or {}).copy().items()
        ]

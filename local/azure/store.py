"""All that the local Azure holds: resources by id, with what belongs to what and who refers to whom."""

import copy
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import ids
from .errors import not_found
from .ids import Id


@dataclass
class Resource:
    """One resource. `body` is what ARM tells of it without id, name, type and etag; children are apart.

    `secret` is what was written and is never told again. `state` is whatever its kind has to remember besides.
    """

    id: Id
    body: dict[str, Any]
    etag: str = field(default_factory=lambda: str(uuid.uuid4()))
    secret: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def properties(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body.setdefault("properties", {})
        return found

    @property
    def location(self) -> str:
        return str(self.body.get("location", ""))

    def changed(self) -> None:
        """It has a new etag from now on."""
        self.etag = str(uuid.uuid4())


class Store:
    """Resources of all subscriptions, and resource groups, which are resources of a kind of their own."""

    def __init__(self) -> None:
        self._known: dict[str, Resource] = {}
        self.groups: dict[str, dict[str, Any]] = {}  # by lower-case id; bodies with id and name

    def find(self, id_: str | Id) -> Resource | None:
        return self._known.get((id_ if isinstance(id_, str) else id_.text).rstrip("/").lower())

    def get(self, id_: str | Id) -> Resource:
        """Raises ArmError."""
        found = self.find(id_)
        if found is None:
            raise not_found(id_ if isinstance(id_, str) else id_.text)
        return found

    def put(self, resource: Resource) -> None:
        self._known[resource.id.key] = resource

    def drop(self, resource: Resource) -> None:
        """With all that is part of it or stands on it."""
        beginning = f"{resource.id.key}/"
        for key in [key for key in self._known if key == resource.id.key or key.startswith(beginning)]:
            del self._known[key]

    def all(self, type_: str | None = None, scope: str = "") -> Iterator[Resource]:
        """Of a type, or of all, below an id; in the order in which they were made."""
        beginning = f"{scope.lower().rstrip('/')}/" if scope else ""
        for key, one in list(self._known.items()):
            if (type_ is None or ids.same(one.id.type, type_)) and key.startswith(beginning):
                yield one

    def children(self, parent: Resource, type_: str | None = None) -> Iterator[Resource]:
        """Its direct parts, of a type or of all."""
        for one in self.all(type_, parent.id.text):
            if one.id.parent is not None and one.id.parent.key == parent.id.key:
                yield one

    def users(self, of: Resource) -> Iterator[Resource]:
        """Those elsewhere that name it or a part of it as {"id": …} anywhere in what they are."""
        key, beginning = of.id.key, f"{of.id.key}/"
        for one in list(self._known.values()):
            if one.id.key == key or one.id.key.startswith(beginning):
                continue
            if any(found == key or found.startswith(beginning) for found in referred(one.body)):
                yield one


def referred(value: Any) -> Iterator[str]:
    """Every id, in small letters, that stands in a body as {"id": ID} or under a name that ends in Id."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str) and inner[:1] == "/" and (name == "id" or name.endswith("Id")):
                yield inner.lower()
            else:
                yield from referred(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from referred(inner)


def merged(old: Any, new: Any) -> Any:
    """JSON merge patch (RFC 7396): null removes, objects merge, all else replaces."""
    if not isinstance(new, dict):
        return copy.deepcopy(new)
    found = copy.deepcopy(old) if isinstance(old, dict) else {}
    for name, value in new.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found

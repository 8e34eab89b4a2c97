"""What a GET of a resource answers."""

import copy
from typing import Any

from .kinds import World
from .store import Resource, merged


def tell(world: World, resource: Resource, expand: str = "") -> dict[str, Any]:
    """What a GET answers. `expand` is the query's, with names between commas."""
    kind = world.kind(resource.id)
    body = copy.deepcopy(resource.body)
    properties = body.setdefault("properties", {})
    if kind.computed:
        body["properties"] = properties = merged(properties, kind.computed(world, resource))
    for name in filter(None, expand.lower().split(",")):
        if name in kind.expands:
            body["properties"] = properties = merged(properties, kind.expands[name](world, resource))
    for path in kind.hidden:
        _hide(properties, path.split("."))
    for name, type_ in kind.subresources.items():
        properties[name] = [tell(world, one) for one in world.store.children(resource, type_)]
    marked = {} if kind.untagged else {"etag": f'W/"{resource.etag}"'}
    return {"id": resource.id.text, "name": resource.id.name, "type": kind.type, **marked, **body}


def _hide(properties: Any, path: list[str]) -> None:
    if isinstance(properties, list):
        for one in properties:
            _hide(one, path)
    elif isinstance(properties, dict) and len(path) > 1:
        _hide(properties.get(path[0]), path[1:])
    elif isinstance(properties, dict):
        properties.pop(path[0], None)

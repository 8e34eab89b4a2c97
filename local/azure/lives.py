"""A resource's life, whoever asked for it: it is kept, its operation is over, others keep it from going, it goes."""

from collections.abc import Iterable
from typing import Any

from .errors import ArmError, bad_request
from .kinds import Kind, World, Write
from .store import Resource


def keep(world: World, write: Write, kind: Kind) -> None:
    """What was hidden and is not said again stays as it was."""
    if write.old:
        for path in kind.hidden:
            _carry(write.old.properties, write.new.properties, path.split("."))
    for name in kind.subresources:
        write.new.properties.pop(name, None)
    write.new.changed()
    world.store.put(write.new)


def _carry(old: Any, new: Any, path: list[str]) -> None:
    if isinstance(old, dict) and isinstance(new, dict) and path[0] in old:
        if len(path) == 1:
            new.setdefault(path[0], old[path[0]])
        else:
            _carry(old[path[0]], new.get(path[0]), path[1:])


def finish(write: Write, kind: Kind) -> None:
    try:
        kind.settle(write)
    except ArmError:
        write.new.properties["provisioningState"] = "Failed"
        raise
    write.new.properties["provisioningState"] = "Succeeded"
    if kind.stateless:
        del write.new.properties["provisioningState"]


def refuse_used(world: World, resource: Resource, kind: Kind) -> None:
    """Raises ArmError for what another resource names, or a part of which it names."""
    for part in world.store.children(resource):
        for user in world.store.users(part):
            if not user.id.key.startswith(f"{resource.id.key}/"):
                _refuse_used(part, world.kind(part.id), [user])
    _refuse_used(resource, kind, world.store.users(resource))


def _refuse_used(resource: Resource, kind: Kind, users: Iterable[Resource]) -> None:
    free = {type_.lower() for type_ in kind.free}
    user = next((one for one in users if one.id.type.lower() not in free), None)
    if user is None:
        return
    last = kind.type.rpartition("/")[2]
    code = kind.in_use or f"InUse{last[0].upper()}{last[1:].removesuffix('s')}CannotBeDeleted"
    message = f"{resource.id.text} is in use by {user.id.text} and cannot be deleted."
    raise bad_request(code, message)


def drop(write: Write, kind: Kind) -> None:
    kind.removed(write)
    for part in list(write.world.store.children(write.new)):
        drop(Write(write.world, part, part, {}, write.caller), write.world.kind(part.id))
    write.world.store.drop(write.new)

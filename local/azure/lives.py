"""A resource's life, whoever asked for it: it is kept, its operation is over, others keep it from going, it goes."""

from collections.abc import Iterable
from typing import Any

from .errors import ArmError, bad_request
from .kinds import Kind, World, Write
from .store import Resource


def keep(world: World, turn: Write, kind: Kind) -> None:
    """What was hidden and is not said again stays as it was."""
    if turn.old:
        for path in kind.hidden:
            _carry(turn.old.properties, turn.new.properties, path.split("."))
    for name in kind.subresources:
        turn.new.properties.pop(name, None)
    turn.new.changed()
    world.store.put(turn.new)


def _carry(old: Any, new: Any, path: list[str]) -> None:
    if isinstance(old, dict) and isinstance(new, dict) and path[0] in old:
        if len(path) == 1:
            new.setdefault(path[0], old[path[0]])
        else:
            _carry(old[path[0]], new.get(path[0]), path[1:])


def finish(turn: Write, kind: Kind) -> None:
    try:
        kind.settle(turn)
    except ArmError:
        turn.new.properties["provisioningState"] = "Failed"
        raise
    turn.new.properties["provisioningState"] = "Succeeded"
    if kind.stateless:
        del turn.new.properties["provisioningState"]


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


def drop(turn: Write, kind: Kind) -> None:
    kind.removed(turn)
    for part in list(turn.world.store.children(turn.new)):
        drop(Write(turn.world, part, part, {}, turn.caller), turn.world.kind(part.id))
    turn.world.store.drop(turn.new)

"""Children that a resource's own body lists, such as a network's subnets: resources of their own, kept one by one."""

from typing import Any

from . import ids, lives
from .errors import bad_request
from .kinds import Kind, World, Write
from .store import Resource


def drafts(world: World, write: Write, kind: Kind, *, keep_missing: bool) -> dict[str, list[Write]]:
    """The children as the body wants them, checked, by property; properties that leave theirs alone are not in it.

    `keep_missing`: one that is not said does so.
    """
    found = {}
    for name, type_ in kind.subresources.items():
        listed = write.properties.get(name)
        if listed is None and (keep_missing or write.old is None):
            continue
        found[name] = [_draft(world, write, type_, one) for one in listed or ()]
        _check(world, found[name])
        wanted = {one.id.key for one in found[name]}
        for gone in (one for one in world.store.children(write.new, type_) if one.id.key not in wanted):
            lives.refuse_used(world, gone, world.kind(gone.id))
    return found


def _draft(world: World, write: Write, type_: str, child: dict[str, Any]) -> Write:
    if not child.get("name"):
        raise bad_request("InvalidRequestFormat", f"A part of {write.id.text} has no name.")
    id_ = ids.parse(f"{write.id.text}/{type_.rpartition('/')[2]}/{child['name']}")
    old = world.store.find(id_)
    body = {key: value for key, value in child.items() if key not in ("id", "name", "type", "etag")}
    if isinstance(body.get("properties"), dict):
        body["properties"] = {key: value for key, value in body["properties"].items() if key != "provisioningState"}
    new = Resource(old.id if old else id_, body, secret=old.secret if old else {}, state=old.state if old else {})
    clean(new, world.kind(id_))
    return Write(world, new, old, child, write.caller, write.version, within=write.new)


def _check(world: World, drafted: list[Write]) -> None:
    """Each of them, knowing of the others."""
    for one in drafted:
        one.beside = [other.new for other in drafted if other is not one]
        world.kind(one.id).check(one)


def clean(resource: Resource, kind: Kind) -> None:
    """Takes off what Azure tells and does not take. Raises ArmError for a property that the type does not have."""
    for name in kind.read_only:
        resource.properties.pop(name, None)
    if kind.known and (strange := sorted(resource.properties.keys() - kind.known - {"provisioningState"})):
        message = (
            f"Could not find member '{strange[0]}' on object of type '{kind.type}'. Path 'properties.{strange[0]}'."
        )
        raise bad_request("InvalidRequestFormat", message)


def keep(world: World, write: Write, kind: Kind, listed: dict[str, list[Write]]) -> None:
    """Keeps the checked children, and drops those that the body lists no more."""
    for name, drafted in listed.items():
        wanted = {one.id.key for one in drafted}
        for gone in [
            one for one in world.store.children(write.new, kind.subresources[name]) if one.id.key not in wanted
        ]:
            lives.drop(Write(world, gone, gone, {}, write.caller), world.kind(gone.id))
        for one in drafted:
            lives.keep(world, one, world.kind(one.id))
            lives.finish(one, world.kind(one.id))

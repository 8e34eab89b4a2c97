"""Azure Resource Manager: from a request's method and path to what is kept and answered.

Source: azure-resource-manager-rpc, v1.0.
"""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from . import access, faults, groups, identities, ids, regions, subresources
from .answers import tell
from .errors import ArmError, bad_request, conflict, not_found
from .ids import Id
from .kinds import Kind, World, Write
from .lives import drop, finish, keep, refuse_used
from .operations import Operation
from .store import Resource, merged
from .tokens import Caller

# Members of a body that stand beside `properties`.
ENVELOPE = frozenset(
    (
        *("id", "name", "type", "etag", "location", "tags", "properties", "sku", "identity", "zones", "kind", "plan"),
        *("managedBy", "extendedLocation", "scale", "instanceId"),
    )
)
READ_ONLY = ("id", "name", "type", "etag")


class Answer(NamedTuple):
    """`body` None: none at all."""

    status: int
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()


class Call(NamedTuple):
    """A request to ARM, whose path is one resource's. `body` is the parsed JSON."""

    method: str
    id: Id
    kind: Kind
    version: str
    body: dict[str, Any]
    caller: Caller
    match: str | None = None  # If-Match
    none_match: str | None = None  # If-None-Match
    expand: str = ""  # $expand

    @property
    def verb(self) -> str:
        """As roles name it."""
        return {"GET": "read", "HEAD": "read", "DELETE": "delete"}.get(self.method, "write")


def view(world: World, namespace: str, types: list[str], name: str) -> Callable[[Write, str], Any] | None:
    kind = world.kinds.get("/".join((namespace, *types)).lower())
    return next((found for known, found in kind.views.items() if known.lower() == name.lower()), None) if kind else None


def serve(world: World, call: Call) -> Answer:
    """One resource's GET, HEAD, PUT, PATCH or DELETE."""
    if call.method not in call.kind.methods | {"HEAD"}:
        raise ArmError(405, "MethodNotAllowed", f"{call.method} is not allowed on {call.kind.type}.")
    access.require(world, call.caller, f"{call.kind.type}/{call.verb}", call.id.text)
    old = world.store.find(call.id)
    if call.method in ("GET", "HEAD"):
        found = old or (call.kind.given and call.kind.given(world, call.id)) or world.store.get(call.id)
        return Answer(200, tell(world, found, call.expand), etag(found))
    _preconditions(call, old)
    if call.method == "DELETE":
        return _delete(world, call, old)
    if call.method == "PATCH" and old is None:
        raise not_found(call.id.text)
    return _put(world, call, old)


def etag(resource: Resource) -> tuple[tuple[str, str], ...]:
    return (("ETag", f'W/"{resource.etag}"'),)


def _preconditions(call: Call, old: Resource | None) -> None:
    """RPC's matrix of ETags. Raises ArmError."""
    mark = f'W/"{old.etag}"' if old else None
    if call.match and (old is None or call.match not in ("*", mark, old.etag)):
        raise ArmError(412, "PreconditionFailed", f"Precondition failed: the etag of '{call.id.text}' is another one.")
    if call.none_match == "*" and old is not None:
        raise ArmError(412, "PreconditionFailed", f"Precondition failed: '{call.id.text}' exists already.")


def _put(world: World, call: Call, old: Resource | None) -> Answer:
    write = _new_write(world, call, old)
    place = write.new.location
    refuse_planned(call, place)
    if not call.kind.preempts:
        world.operations.refuse_second(_serial_key(call.id, call.kind))
    identities.require_assign(world, call.caller, call.body, patches=call.method == "PATCH")
    identities.check(write)
    subresources.clean(write.new, call.kind)
    call.kind.check(write)
    listed = subresources.drafts(
        world, write, call.kind, keep_missing=call.kind.keeps_subresources or call.method == "PATCH"
    )
    keep(world, write, call.kind)
    subresources.keep(world, write, call.kind, listed)
    identities.settle(write)
    if call.kind.preempts:
        world.operations.preempt(call.id.key)
    call.kind.begun(write)
    status = call.kind.statuses[1 if old else 0]
    if call.method not in call.kind.slow:
        finish(write, call.kind)
        return Answer(status, tell(world, write.new), etag(write.new))
    write.new.properties["provisioningState"] = call.kind.busy[1 if old else 0]

    def over() -> Any:
        if late := faults.planned(call.method, call.kind.type, place, call.id.name, late=True):
            write.new.properties["provisioningState"] = "Failed"
            call.kind.failed(write)
            raise late
        finish(write, call.kind)
        return tell(world, write.new)

    operation = begin(world, call, place, over)
    return Answer(status, tell(world, write.new), (*etag(write.new), *pointers(operation)))


def _new_write(world: World, call: Call, old: Resource | None) -> Write:
    body = copy.deepcopy(call.body)
    if strange := sorted(body.keys() - ENVELOPE):
        raise bad_request(
            "InvalidRequestContent", f"Could not find member '{strange[0]}' on object of type '{call.kind.type}'."
        )
    if not same_id(body, call.id):
        raise bad_request("MismatchingResourceName", f"The body's id or name is not that of '{call.id.text}'.")
    for name in READ_ONLY:
        body.pop(name, None)
    before = old.properties.get("provisioningState") if old else None
    state = (
        body.get("properties", {}).pop("provisioningState", before)
        if isinstance(body.get("properties"), dict)
        else before
    )
    if state not in (before, "Succeeded"):
        raise bad_request("InvalidRequestContent", f"provisioningState '{state}' is not what it is: '{before}'.")
    if call.method == "PATCH":
        assert old is not None
        body = merged(old.body, body)
    _place(world, call, body, old)
    new = Resource(old.id if old else call.id, body, secret=old.secret if old else {}, state=old.state if old else {})
    return Write(world, new, old, call.body, call.caller.principal, call.version)


def same_id(body: dict[str, Any], id_: Id) -> bool:
    named = body.get("id")
    return (named is None or ids.same(str(named), id_.text)) and ids.same(body.get("name", id_.name), id_.name)


def _place(world: World, call: Call, body: dict[str, Any], old: Resource | None) -> None:
    """Its group, its parent and its location are there and right. Raises ArmError."""
    if call.id.group:
        groups.require(world, ids.group_id(call.id.subscription, call.id.group))
    parent = call.id.parent
    if parent is not None and world.store.find(parent) is None:
        message = (
            f"Failed to perform 'write' on resource(s) of type '{'/'.join(call.id.types)}', because the parent "
            f"resource '{parent.text}' could not be found."
        )
        raise ArmError(404, "ParentResourceNotFound", message)
    if not call.kind.tracked:
        return
    if "location" not in body and old:
        body["location"] = old.location
    place = ids.location(str(body.get("location", "")))
    if not place:
        raise bad_request("LocationRequired", "The location property is required for this definition.")
    if place not in regions.NAMES and place != regions.GLOBAL:
        raise bad_request("LocationNotAvailableForResourceType", f"The provided location '{place}' is not available.")
    if old and old.location != place:
        message = (
            f"The resource '{call.id.name}' already exists in location '{old.location}' and can't be made in '{place}'."
        )
        raise conflict("InvalidResourceLocation", message)
    body["location"] = place


def refuse_planned(call: Call, place: str) -> None:
    """Raises ArmError, the fault that a test has planned."""
    if fault := faults.planned(call.method, call.kind.type, place, call.id.name):
        raise fault


def _delete(world: World, call: Call, old: Resource | None) -> Answer:
    if old is None:
        return Answer(204)
    refuse_planned(call, old.location)
    if not call.kind.preempts:
        world.operations.refuse_second(_serial_key(call.id, call.kind))
    refuse_used(world, old, call.kind)
    write = Write(world, old, old, {}, call.caller.principal, call.version)
    call.kind.removing(write)
    if "DELETE" not in call.kind.slow:
        drop(write, call.kind)
        return Answer(200)
    world.operations.preempt(call.id.key)
    old.properties["provisioningState"] = "Deleting"

    def over() -> None:
        if late := faults.planned("DELETE", call.kind.type, old.location, call.id.name, late=True):
            old.properties["provisioningState"] = "Failed"
            raise late
        drop(write, call.kind)

    return Answer(202, None, pointers(begin(world, call, old.location, over)))


def _serial_key(id_: Id, kind: Kind) -> str:
    """Of what nothing else is written while this is."""
    return id_.parent.key if kind.serial and id_.parent else id_.key


def begin(world: World, call: Call, place: str, over: Any) -> Operation:
    operation = Operation(_serial_key(call.id, call.kind), over, 0.0, call.id.namespace, call.id.subscription, place)
    operation.writes = call.method in ("PUT", "PATCH")
    return world.operations.begin(call.kind.type, operation)


def pointers(operation: Operation) -> tuple[tuple[str, str], ...]:
    """Clients of Azure take `retry-after-ms` before `Retry-After`, which has whole seconds."""
    base, version = "https://management.azure.com", "?api-version=2024-01-01"
    return (
        ("Azure-AsyncOperation", f"{base}{operation.path('operations')}{version}"),
        ("Location", f"{base}{operation.path('operationResults')}{version}"),
        ("Retry-After", "1"),
        ("retry-after-ms", "50"),
    )

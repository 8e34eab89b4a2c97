"""From an HTTP request to ARM to its answer: subscriptions, groups, lists, operations, actions, single resources."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import urlencode

from . import access, activity, arm, directories, faults, groups, ids, operations, regions, tags
from .answers import tell
from .arm import Answer
from .errors import ArmError, bad_request
from .kinds import Later, World, Write
from .lives import drop, refuse_used
from .store import Resource
from .tokens import Caller

VERSION = re.compile(r"(\d{4}-\d{2}-\d{2})(-preview|-beta|-alpha)?")
OLDEST = "2014-01-01"
PAGE = 100  # of a list; Azure's pages differ by type


class Request(NamedTuple):
    """`path` as it came; `headers` with names in small letters."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    caller: Caller

    @property
    def version(self) -> str:
        return self.query["api-version"]

    @property
    def object(self) -> dict[str, Any]:
        """The body, which must be an object. Raises ArmError."""
        if not isinstance(self.body, dict):
            raise bad_request("InvalidRequestContent", "The request content was invalid and could not be deserialized.")
        return self.body


# Answers that hang on no resource, such as a region's usages: pattern of the path (small letters) → what answers.
Read = Callable[[World, Request, re.Match[str]], Any]


def answer(world: World, request: Request, reads: Mapping[str, Read]) -> Answer:
    """Raises ArmError."""
    world.operations.settle_due()
    directories.enter(request.path, request.caller)
    _check_version(request)
    path = request.path.rstrip("/").lower()
    for methods, pattern, route in ROUTES:
        if found := re.fullmatch(pattern, path):
            if request.method not in methods:
                raise ArmError(405, "MethodNotAllowed", f"{request.method} is not allowed on {request.path}.")
            return route(world, request, found)
    for pattern, read in reads.items():
        if request.method in ("GET", "POST") and (found := re.fullmatch(pattern, path)):
            access.require(world, request.caller, _right(request.path), request.path)
            return Answer(200, read(world, request, found))
    answered = _of_resources(world, request)
    said = json.dumps(request.body) if request.body else ""
    activity.record(world, request.method, request.path, said, request.caller.principal, answered.status)
    return answered


def _right(path: str) -> str:
    """To read what is no resource: of its types, without names, such as Microsoft.Compute/locations/usages/read."""
    namespace, *rest = path.strip("/").rpartition("providers/")[2].split("/")
    return "/".join((namespace, *rest[::2], "read"))


def _check_version(request: Request) -> None:
    version = request.query.get("api-version")
    if not version:
        raise bad_request("MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required.")
    found = VERSION.fullmatch(version)
    if not found or not OLDEST <= found[1] <= date.today().isoformat():
        raise bad_request("InvalidApiVersionParameter", f"The api-version '{version}' is invalid.")


def _of_resources(world: World, request: Request) -> Answer:
    parts = request.path.rstrip("/").split("/")
    at = [n for n, part in enumerate(parts) if part.lower() == "providers"]
    if not at:
        raise ArmError(404, "InvalidResourceType", f"The local Azure has nothing at '{request.path}'.")
    rest = parts[at[-1] + 1 :]
    if len(rest) % 2 == 1 and len(rest) > 1:
        return _of_resource(world, request)
    if len(rest) > 3 and (found := arm.view(world, rest[0], rest[1:-1:2], rest[-1])):
        return _view(world, request, found)
    if request.method == "GET" and len(rest) > 1:
        return _list(world, request, rest)
    if request.method == "POST" and len(rest) > 2:
        return _act(world, request)
    raise ArmError(404, "InvalidResourceType", f"The local Azure has nothing at '{request.path}'.")


def _of_resource(world: World, request: Request) -> Answer:
    id_ = ids.parse(request.path)
    body = request.object if request.method in ("PUT", "PATCH") else {}
    match = (request.headers.get("if-match"), request.headers.get("if-none-match"))
    expand = request.query.get("$expand", "")
    call = arm.Call(request.method, id_, world.kind(id_), request.version, body, request.caller, *match, expand)
    return arm.serve(world, call)


def _view(world: World, request: Request, view: Callable[[Write, str], Any]) -> Answer:
    """GET or PUT of what has no name of its own below a resource."""
    if request.method not in ("GET", "PUT"):
        raise ArmError(405, "MethodNotAllowed", f"{request.method} is not allowed on {request.path}.")
    of, _, name = request.path.rstrip("/").rpartition("/")
    id_ = ids.parse(of)
    access.require(world, request.caller, f"{id_.type}/{name}/{'read' if request.method == 'GET' else 'write'}", of)
    found = world.store.get(id_)
    body = request.object if request.method == "PUT" else {}
    return Answer(
        200, view(Write(world, found, found, body, request.caller.principal, request.version), request.method)
    )


def _list(world: World, request: Request, rest: list[str]) -> Answer:
    """Of a type: in a subscription, in a group, or of one parent."""
    type_ = "/".join((rest[0], *rest[1::2]))
    if type_.lower() not in world.kinds:
        raise ArmError(404, "InvalidResourceType", f"The resource type '{type_}' could not be found.")
    access.require(world, request.caller, f"{type_}/read", request.path)
    if lists := world.kinds[type_.lower()].lists:
        found = list(lists(world, re.split(r"(?i)/providers/[^/]+/[^/]+/?$", request.path)[0], request.query))
    elif len(rest) > 2:
        parent = world.store.get(request.path.rstrip("/").rpartition("/")[0])
        found = list(world.store.children(parent, type_))
    else:
        scope = re.split(r"(?i)/providers/", request.path)[0]
        if "/resourcegroups/" in f"{scope.lower()}/":
            groups.get(world, scope)
        found = list(world.store.all(type_, scope))
    return _page(world, request, found)


def _page(world: World, request: Request, found: list[Resource]) -> Answer:
    """One page of a list, with the address of the next one."""
    skipped = request.query.get("$skiptoken", "0")
    if not skipped.isdecimal():
        raise bad_request("InvalidParameter", f"The skip token '{skipped}' is not valid.")
    end = int(skipped) + PAGE
    expand = request.query.get("$expand", "")
    body: dict[str, Any] = {"value": [tell(world, one, expand) for one in found[int(skipped) : end]]}
    if len(found) > end:
        query = urlencode({**request.query, "$skiptoken": str(end)})
        body["nextLink"] = f"https://management.azure.com{request.path}?{query}"
    return Answer(200, body)


def _act(world: World, request: Request) -> Answer:
    """POST …/NAME/action on a resource, or on all of a type below it."""
    of, _, name = request.path.rstrip("/").rpartition("/")
    id_ = ids.parse(of)
    kind = world.kind(id_)
    action = next((known for known in kind.actions if known.lower() == name.lower()), None)
    if action is None:
        raise ArmError(404, "InvalidResourceType", f"The local Azure has no action '{name}' of {kind.type}.")
    access.require(world, request.caller, f"{kind.type}/{action}/action", id_.text)
    found = world.store.get(id_)
    body = request.body if isinstance(request.body, dict) else {}
    write = Write(world, found, found, body, request.caller.principal, request.version)
    call = arm.Call("POST", id_, kind, request.version, body, request.caller)
    arm.refuse_planned(call, found.location)
    kind.check_action(write)
    if action not in kind.slow_actions:
        if not kind.preempts:
            world.operations.refuse_second(id_.key)
        result = kind.actions[action](write)
        if isinstance(result, Later):
            return _later(world, call, found.location, result)
        return Answer(204) if result is None else Answer(200, result)
    world.operations.refuse_second(id_.key)
    operation = arm.begin(world, call, found.location, lambda: kind.actions[action](write))
    return Answer(202, None, arm.pointers(operation))


def _later(world: World, call: arm.Call, place: str, later: Later) -> Answer:
    def over() -> Any:
        if late := faults.planned(call.method, call.kind.type, place, call.id.name, late=True):
            later.undo()
            raise late
        return later.finish()

    return Answer(202, None, arm.pointers(arm.begin(world, call, place, over)))


def _subscriptions(world: World, request: Request, found: re.Match[str]) -> Answer:  # noqa: ARG001
    return Answer(200, {"value": []})


def _require(world: World, request: Request, found: re.Match[str], what: str) -> None:
    """A right to what is a subscription's own, over all of it. Raises ArmError."""
    action = f"Microsoft.Resources/subscriptions/{what}"
    access.require(world, request.caller, action, f"/subscriptions/{found['subscription']}")


def _subscription(world: World, request: Request, found: re.Match[str]) -> Answer:
    _require(world, request, found, "read")
    return Answer(200, groups.subscription(found[1], directories.of(request.path)))


def _locations(world: World, request: Request, found: re.Match[str]) -> Answer:
    _require(world, request, found, "locations/read")
    return Answer(200, {"value": [{"name": name, "id": f"{request.path}/{name}"} for name in sorted(regions.NAMES)]})


def _providers(world: World, request: Request, found: re.Match[str]) -> Answer:
    _require(world, request, found, "providers/read")
    known = sorted({kind.type.partition("/")[0] for kind in world.kinds.values()})
    wanted = found.groupdict().get("namespace")
    listed = [_provider(world, found["subscription"], name) for name in known if wanted in (None, name.lower())]
    if wanted is None:
        return Answer(200, {"value": listed})
    if not listed:
        raise ArmError(404, "InvalidResourceNamespace", f"The resource namespace '{wanted}' is invalid.")
    return Answer(200, listed[0])


def _register(world: World, request: Request, found: re.Match[str]) -> Answer:
    """All of them are registered always."""
    scope = f"/subscriptions/{found['subscription']}"
    access.require(world, request.caller, f"{found['namespace']}/register/action", scope)
    return _providers(world, request, found)


def _provider(world: World, subscription: str, name: str) -> dict[str, Any]:
    types = [
        {"resourceType": kind.type.partition("/")[2]}
        for kind in world.kinds.values()
        if kind.type.startswith(f"{name}/")
    ]
    id_ = f"/subscriptions/{subscription}/providers/{name}"
    return {"id": id_, "namespace": name, "registrationState": "Registered", "resourceTypes": types}


def _group(world: World, request: Request, found: re.Match[str]) -> Answer:  # noqa: ARG001
    id_ = request.path.rstrip("/")
    verb = {"GET": "read", "HEAD": "read", "DELETE": "delete"}.get(request.method, "write")
    access.require(world, request.caller, f"Microsoft.Resources/subscriptions/resourceGroups/{verb}", id_)
    match request.method:
        case "PUT":
            return Answer(*groups.put(world, id_, request.object))
        case "PATCH":
            return Answer(200, groups.patch(world, id_, request.object))
        case "HEAD":
            return Answer(204 if id_.lower() in world.store.groups else 404)
        case "DELETE":
            return _delete_group(world, id_)
    return Answer(200, groups.get(world, id_))


def _delete_group(world: World, id_: str) -> Answer:
    groups.mark_deleting(world, id_)

    def over() -> None:
        empty(world, id_)
        world.store.groups.pop(id_.lower(), None)  # a second delete may have been first

    subscription = id_.split("/")[2]
    started = operations.Operation(id_.lower(), over, 0.0, "Microsoft.Resources", subscription, "global")
    return Answer(202, None, arm.pointers(world.operations.begin(groups.GROUP, started)))


def empty(world: World, id_: str) -> None:
    """Deletes all in a group, in any order, for as long as that gets on. Raises ArmError for what is left."""
    refused: list[ArmError] = []
    while left := [one for one in world.store.all(None, id_) if one.id.parent is None or world.kind(one.id).tracked]:
        left.sort(key=lambda one: -len(one.id.names))  # a gallery goes after its images
        refused, before = [], len(left)
        for one in left:
            kind = world.kind(one.id)
            write = Write(world, one, one, {})
            try:
                refuse_used(world, one, kind)
                kind.removing(write)
                drop(write, kind)
            except ArmError as error:
                refused.append(error)
        if len(refused) == before:
            groups.get(world, id_)["properties"]["provisioningState"] = "Succeeded"
            message = (
                f"Deletion of resource group '{id_.split('/')[4]}' failed as resources in it could not be deleted."
            )
            raise ArmError(409, "ResourceGroupDeletionBlocked", message, details=refused)


def _groups(world: World, request: Request, found: re.Match[str]) -> Answer:
    _require(world, request, found, "resourceGroups/read")
    return Answer(200, {"value": groups.listing(world, found["subscription"])})


def _resources(world: World, request: Request, found: re.Match[str]) -> Answer:
    scope = request.path.rstrip("/").rpartition("/")[0]
    of = "subscriptions/resourceGroups" if found["group"] else "subscriptions"
    access.require(world, request.caller, f"Microsoft.Resources/{of}/resources/read", scope)
    if found["group"]:
        groups.get(world, scope)
    listed = [tell(world, one) for one in world.store.all(None, scope) if one.id.parent is None]
    short = ("id", "name", "type", "location", "tags", "sku", "kind", "identity", "zones")
    return Answer(200, {"value": [{key: one[key] for key in short if key in one} for one in listed]})


def _tags(world: World, request: Request, found: re.Match[str]) -> Answer:  # noqa: ARG001
    body = request.object if request.method in ("PUT", "PATCH") else None
    return tags.answer(world, request.method, request.path.rstrip("/"), body, request.caller)


def _operation(world: World, request: Request, found: re.Match[str]) -> Answer:  # noqa: ARG001
    operation = world.operations.find(found["id"])
    if operation is None:
        raise ArmError(404, "OperationNotFound", f"There is no operation '{found['id']}'.")
    wait = (("Retry-After", "1"), ("retry-after-ms", "50")) if operation.status == "InProgress" else ()
    if found["what"] == "operations":
        return Answer(200, operation.document(), wait)
    if operation.status == "InProgress":
        return Answer(202, None, (*arm.pointers(operation)[1:],))
    if operation.error:
        raise operation.error
    return Answer(204) if operation.result is None else Answer(200, operation.result)


SUBSCRIPTION = r"/subscriptions/(?P<subscription>[^/]+)"
READ = frozenset(("GET",))
ROUTES: tuple[tuple[frozenset[str], str, Callable[[World, Request, re.Match[str]], Answer]], ...] = (
    (READ, r"/subscriptions", _subscriptions),
    (READ, SUBSCRIPTION, _subscription),
    (READ, rf"{SUBSCRIPTION}/locations", _locations),
    (READ, rf"{SUBSCRIPTION}/providers(/(?P<namespace>[^/]+))?", _providers),
    (frozenset(("POST",)), rf"{SUBSCRIPTION}/providers/(?P<namespace>[^/]+)/register", _register),
    (frozenset(("GET", "PUT", "PATCH", "DELETE")), tags.ROUTE, _tags),
    (READ, rf"{SUBSCRIPTION}/resourcegroups", _groups),
    (frozenset(("GET", "HEAD", "PUT", "PATCH", "DELETE")), rf"{SUBSCRIPTION}/resourcegroups/[^/]+", _group),
    (READ, rf"{SUBSCRIPTION}(/resourcegroups/(?P<group>[^/]+))?/resources", _resources),
    (
        READ,
        rf"{SUBSCRIPTION}/providers/[^/]+/locations/[^/]+/(?P<what>operations|operationresults)/(?P<id>[^/]+)",
        _operation,
    ),
)

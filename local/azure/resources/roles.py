"""Role definitions and role assignments (Microsoft.Authorization, 2022-04-01), which stand at any scope."""

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping

from .. import groups, identities, ids
from ..errors import ArmError, bad_request, conflict, not_found
from ..ids import Id
from ..kinds import Kind, World, Write
from ..operations import now
from ..roles.builtin import BY_GUID, ROLES, Role
from ..roles.conditions import BadCondition, parsed
from ..roles.evaluation import ASSIGNMENT, DEFINITION
from ..store import Resource

FILTER = re.compile(r"(?i)(principalId|assignedTo|roleName|type)(?:\s+eq\s+|\()'([^']*)'\)?|atScope(?:AndBelow)?\(\)")
KINDS_OF_PRINCIPALS = ("User", "Group", "ServicePrincipal", "ForeignGroup", "Device")
MARKED = {"actions", "notActions", "dataActions", "notDataActions"}


def _guid(name: str, what: str) -> None:
    try:
        if str(uuid.UUID(name)) == name.lower():
            return
    except ValueError:
        pass
    code = f"Invalid{what.title().replace(' ', '')}Id"
    raise bad_request(code, f"The {what} ID '{name}' is not valid. The {what} ID must be a GUID.")


def _require_scope(world: World, scope: str) -> None:
    """Raises ArmError for one that is not there. The local Azure has no management groups."""
    parts = scope.strip("/").split("/")
    if len(parts) < 2 or parts[0].lower() != "subscriptions":
        raise ArmError(404, "InvalidScope", f"The local Azure has no scope '{scope or '/'}'.")
    if len(parts) == 4:
        groups.require(world, scope)
    elif len(parts) > 4 and world.store.find(scope) is None:
        raise not_found(scope)


def _builtin(role: Role, scope: str) -> Resource:
    id_ = ids.parse(f"{scope}/providers/{DEFINITION}/{role.guid}")
    properties = {
        "roleName": role.name,
        "type": "BuiltInRole",
        "description": role.name,
        "assignableScopes": ["/"],
        "permissions": role.permissions,
    }
    return Resource(id_, {"properties": properties}, etag=role.guid)


def _subscription(scope: str) -> str:
    return "/".join(scope.split("/")[:3])


def _definition_given(world: World, id_: Id) -> Resource | None:
    """A built-in one, or a custom one by another scope's id."""
    if role := BY_GUID.get(id_.name.lower()):
        return _builtin(role, _subscription(id_.scope))
    return next((one for one in world.store.all(DEFINITION) if ids.same(one.id.name, id_.name)), None)


def _definitions(world: World, scope: str, query: Mapping[str, str]) -> Iterator[Resource]:
    wanted = {key.lower(): value for key, value in _filters(query)}
    every: list[Resource] = [_builtin(role, _subscription(scope)) for role in ROLES]
    for one in (*every, *world.store.all(DEFINITION)):
        properties = one.properties
        near = any(_covers(at, scope) or _covers(scope, at) for at in properties["assignableScopes"])
        right = all(
            ids.same(properties["roleName" if key == "rolename" else key], value) for key, value in wanted.items()
        )
        if near and right:
            yield one


def _covers(above: str, below: str) -> bool:
    return f"{below.lower().rstrip('/')}/".startswith(f"{above.lower().rstrip('/')}/")


def _filters(query: Mapping[str, str]) -> list[tuple[str, str]]:
    """Raises ArmError for a filter that the local Azure does not know."""
    text = query.get("$filter", "")
    if FILTER.sub("", text).replace("and", "").strip():
        raise bad_request("InvalidFilter", f"The local Azure does not know the filter '{text}'.")
    return [(found[1], found[2]) for found in FILTER.finditer(text) if found[1]]


def _definition(write: Write) -> None:
    _guid(write.id.name, "role definition")
    properties = write.properties
    if write.id.name.lower() in BY_GUID:
        raise ArmError(403, "RoleDefinitionCannotBeUpdated", "Built-in roles cannot be changed.")
    scopes = properties.get("assignableScopes") or []
    if not scopes or not properties.get("roleName"):
        raise bad_request("InvalidRoleDefinition", "A role has a roleName and at least one of assignableScopes.")
    for scope in scopes:
        _require_scope(write.world, scope)
    keys = [key for one in properties.get("permissions") or () for key, value in one.items() if value is not None]
    if "condition" in keys or "conditionVersion" in keys:
        # Azure has them in some built-in roles alone ("Understand Azure role definitions").
        raise bad_request("InvalidRoleDefinition", "A custom role's permission has no condition; its assignment may.")
    if strange := [key for key in keys if key not in MARKED]:
        raise bad_request("InvalidRoleDefinition", f"A permission has no {strange[0]}.")
    for other in (*(_builtin(role, "") for role in ROLES), *write.world.store.all(DEFINITION)):
        if other.id.name.lower() != write.id.name.lower() and ids.same(
            other.properties["roleName"], properties["roleName"]
        ):
            message = f"A custom role with the same name already exists in this directory: {properties['roleName']}."
            raise conflict("RoleDefinitionWithSameNameExists", message)


def _definition_settled(write: Write) -> None:
    properties = write.properties
    properties["type"] = "CustomRole"
    properties["permissions"] = [
        {key: one.get(key) or [] for key in sorted(MARKED)} for one in properties.get("permissions") or ()
    ]


def _definition_removing(write: Write) -> None:
    for one in write.world.store.all(ASSIGNMENT):
        if ids.same(one.properties["roleDefinitionId"].rpartition("/")[2], write.id.name):
            message = f"There are existing role assignments referencing role: {one.id.text}"
            raise bad_request("RoleDefinitionHasAssignments", message)


def _assignment(write: Write) -> None:
    _guid(write.id.name, "role assignment")
    properties, scope = write.properties, write.id.scope
    _require_scope(write.world, scope)
    _guid(str(properties.get("principalId", "")), "principal")
    _require_assignable(write.world, scope, str(properties.get("roleDefinitionId", "")).rpartition("/")[2])
    kind = properties.get("principalType")
    if kind is not None and kind not in KINDS_OF_PRINCIPALS:
        raise bad_request("InvalidPrincipalType", f"principalType is one of {KINDS_OF_PRINCIPALS}.")
    if kind is None and not identities.known(write.world, properties["principalId"]):
        message = (
            f"Principal {properties['principalId'].replace('-', '')} does not exist in the directory. If it was made "
            "just now, set principalType: Azure does not look for it then."
        )
        raise bad_request("PrincipalNotFound", message)
    _conditions(write)
    _unique(write)


def _require_assignable(world: World, scope: str, guid: str) -> None:
    """Raises ArmError for a role that is not there, or only elsewhere."""
    found = _definition_given(world, ids.parse(f"{scope}/providers/{DEFINITION}/{guid}")) if guid else None
    if found is None or not any(_covers(at, scope) for at in found.properties["assignableScopes"]):
        where = "" if found is None else f" at '{scope}', which is in none of its assignableScopes"
        message = f"The specified role definition with ID '{guid}' does not exist{where}."
        raise ArmError(404, "RoleDefinitionDoesNotExist", message)


def _conditions(write: Write) -> None:
    text, version = write.properties.get("condition"), write.properties.get("conditionVersion")
    if not text:
        return
    if version != "2.0":
        raise bad_request("InvalidConditionVersion", "A condition has conditionVersion 2.0.")
    try:
        parsed(text)
    except BadCondition as error:
        raise bad_request("InvalidCondition", f"The condition is not valid: {error}.") from None


def _unique(write: Write) -> None:
    def grant(one: Resource) -> tuple[str, ...]:
        properties = one.properties
        return (
            one.id.scope.lower(),
            properties["principalId"].lower(),
            properties["roleDefinitionId"].rpartition("/")[2].lower(),
        )

    if write.old and grant(write.old) != grant(write.new):
        message = "Tenant ID, application ID, principal ID, and scope are not allowed to be updated."
        raise bad_request("RoleAssignmentUpdateNotPermitted", message)
    for one in write.world.store.all(ASSIGNMENT):
        if one.id.key != write.id.key and grant(one) == grant(write.new):
            message = f"The role assignment already exists. The ID of the existing role assignment is {one.id.name}."
            raise conflict("RoleAssignmentExists", message)


def _assignment_settled(write: Write) -> None:
    properties, old = write.properties, write.old.properties if write.old else {}
    properties["scope"] = write.id.scope
    properties.setdefault("principalType", "ServicePrincipal")
    properties["roleDefinitionId"] = (
        f"{_subscription(write.id.scope)}/providers/{DEFINITION}/{properties['roleDefinitionId'].rpartition('/')[2]}"
    )
    properties |= {"createdOn": old.get("createdOn", now()), "updatedOn": now()}
    properties |= {"createdBy": old.get("createdBy", write.caller), "updatedBy": write.caller}


def _assignments(world: World, scope: str, query: Mapping[str, str]) -> Iterable[Resource]:
    """Of a scope, of all above it and all below it; with atScope(), not of those below."""
    _require_scope(world, scope)
    filters, here = _filters(query), "atscope()" in query.get("$filter", "").lower()
    for one in world.store.all(ASSIGNMENT):
        at = one.properties["scope"]
        near = _covers(at, scope) or (not here and _covers(scope, at))
        if near and all(ids.same(one.properties["principalId"], value) for _, value in filters):
            yield one


KINDS = (
    Kind(
        DEFINITION,
        untagged=True,
        stateless=True,
        tracked=False,
        check=_definition,
        settle=_definition_settled,
        removing=_definition_removing,
        free=frozenset((ASSIGNMENT,)),
        methods=frozenset(("GET", "PUT", "DELETE")),
        statuses=(201, 201),
        given=_definition_given,
        lists=_definitions,
    ),
    Kind(
        ASSIGNMENT,
        untagged=True,
        stateless=True,
        tracked=False,
        check=_assignment,
        settle=_assignment_settled,
        methods=frozenset(("GET", "PUT", "DELETE")),
        statuses=(201, 201),
        lists=_assignments,
    ),
)

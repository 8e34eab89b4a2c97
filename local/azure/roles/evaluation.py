"""What a principal's role assignments let it do ("Understand Azure role definitions", "How Azure RBAC determines …").

Assignments add up. An action is allowed when one of them, at the scope or above, has a role whose actions have it and
whose notActions do not; of data, dataActions and notDataActions, and the assignment's condition must hold.
"""

from collections.abc import Iterator
from typing import Any

from ..kinds import World
from ..store import Resource
from . import conditions
from .builtin import BY_GUID
from .conditions import Request, action_fits

ASSIGNMENT = "Microsoft.Authorization/roleAssignments"
DEFINITION = "Microsoft.Authorization/roleDefinitions"


def permissions(world: World, role_id: str) -> list[dict[str, Any]]:
    """Of a role by its id, whatever scope that names; none of one that is not there."""
    guid = role_id.rpartition("/")[2].lower()
    if guid in BY_GUID:
        return BY_GUID[guid].permissions
    found = next((one for one in world.store.all(DEFINITION) if one.id.name.lower() == guid), None)
    return list(found.properties.get("permissions") or []) if found else []


def assignments(world: World, principal: str, scope: str) -> Iterator[Resource]:
    """A principal's, at a scope or above it."""
    here = f"{scope.lower().rstrip('/')}/"
    for one in world.store.all(ASSIGNMENT):
        above = f"{one.properties['scope'].lower().rstrip('/')}/"
        if one.properties["principalId"].lower() == principal.lower() and here.startswith(above):
            yield one


def allowed(world: World, principal: str, scope: str, request: Request, *, data: bool = False) -> bool:
    names = ("dataActions", "notDataActions") if data else ("actions", "notActions")
    for one in assignments(world, principal, scope):
        for permission in permissions(world, one.properties["roleDefinitionId"]):
            yes, no = (
                [action_fits(pattern, request.action) for pattern in permission.get(name) or ()] for name in names
            )
            if any(yes) and not any(no) and _holds(one, request):
                return True
    return False


def _holds(assignment: Resource, request: Request) -> bool:
    text = assignment.properties.get("condition")
    return not text or conditions.parsed(text)(request)

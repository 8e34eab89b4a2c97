"""Tags apart from what has them: …/providers/Microsoft.Resources/tags/default ("Tags - Update At Scope").

A merge changes the tags that it names and no other: two that come at the same time both count.
"""

import re
from typing import Any

from . import access
from .arm import Answer
from .errors import bad_request
from .groups import get, require
from .kinds import World
from .store import Resource
from .tokens import Caller

TYPE = "Microsoft.Resources/tags"
ROUTE = r"(?P<scope>/subscriptions/[^/]+/resourcegroups/.+)/providers/microsoft\.resources/tags/default"
# "Use tags to organize your Azure resources", limitations.
MOST, LONGEST_NAME, LONGEST_VALUE, NOT_IN_NAMES = 50, 512, 256, "<>%&\\?/"


def answer(world: World, method: str, path: str, body: Any, caller: Caller) -> Answer:
    """Raises ArmError."""
    scope = re.split(r"(?i)/providers/microsoft\.resources/tags/", path)[0]
    verb = {"GET": "read", "HEAD": "read", "DELETE": "delete"}.get(method, "write")
    access.require(world, caller, f"{TYPE}/{verb}", scope)
    of = _found(world, scope)
    tags: dict[str, str] = dict(of.get("tags") or {})
    if method not in ("GET", "HEAD"):
        tags = _checked(_changed(tags, method, body if isinstance(body, dict) else {}))
        of["tags"] = tags
        if isinstance(found := world.store.find(scope), Resource):
            found.changed()
    if method == "DELETE":
        return Answer(200)
    envelope = {"id": f"{scope}/providers/{TYPE}/default", "name": "default", "type": TYPE}
    return Answer(200, {**envelope, "properties": {"tags": tags}})


def _found(world: World, scope: str) -> dict[str, Any]:
    """The body of a resource or of a group. Raises ArmError."""
    if "/providers/" not in scope.lower():
        require(world, scope)
        return get(world, scope)
    found = world.store.get(scope)
    world.kind(found.id)
    return found.body


def _changed(tags: dict[str, str], method: str, body: dict[str, Any]) -> dict[str, str]:
    given = (body.get("properties") or {}).get("tags") or {}
    if method == "DELETE":
        return {}
    operation = "Replace" if method == "PUT" else body.get("operation")
    if operation == "Replace":
        return dict(given)
    if operation not in ("Merge", "Delete"):
        raise bad_request(
            "InvalidTagsPatchOperation", f"The operation '{operation}' is none of Merge, Replace, Delete."
        )
    named = {name.lower(): value for name, value in given.items()}
    if operation == "Delete":
        return {name: value for name, value in tags.items() if named.get(name.lower()) not in ("", value)}
    return {**{name: value for name, value in tags.items() if name.lower() not in named}, **given}


def _checked(tags: dict[str, str]) -> dict[str, str]:
    if len(tags) > MOST:
        raise bad_request("InvalidTagsCount", f"The number of tags, {len(tags)}, is above {MOST}.")
    for name, value in tags.items():
        if not name or len(name) > LONGEST_NAME or set(name) & set(NOT_IN_NAMES):
            raise bad_request("InvalidTagNameCharacters", f"The tag name '{name}' is invalid.")
        if not isinstance(value, str) or len(value) > LONGEST_VALUE:
            raise bad_request("InvalidTagValueLength", f"The value of tag '{name}' is longer than {LONGEST_VALUE}.")
    return tags

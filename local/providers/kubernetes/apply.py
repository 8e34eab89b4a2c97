"""Server-side apply: one request that says what we want of an object's fields, under our manager's name."""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from .api import APPLY, Api, ApiError
from .discovery import Kind
from .objects import name_of, namespace_of
from .refusals import conflicts

MANAGER = "pulumi-kubernetes"
# Fields that a person changed with kubectl are taken back, as the official provider does.
PEOPLE = ("kubectl", "before-first-apply")
ATTEMPTS = 4

Tell = Callable[[str], None]


def new_manager() -> str:
    """Each resource has its own, so that two programs with one object notice each other."""
    return f"{MANAGER}-{secrets.token_hex(4)}"


def apply(
    api: Api,
    kind: Kind,
    thing: Mapping[str, Any],
    manager: str,
    *,
    dry: bool,
    force: bool,
    warn: Tell | None = None,
) -> dict[str, Any]:
    """The object as it is (or, dry, would be) afterwards. Raises ApiError and Unreachable."""
    path = kind.path(namespace_of(thing), name_of(thing))
    query = {"fieldManager": manager, "fieldValidation": "Strict", "force": "true" if force else "false"}
    if dry:
        query["dryRun"] = "All"
    for attempt in range(ATTEMPTS):
        try:
            return api.call("PATCH", path, query, thing, APPLY, warn=warn)
        except ApiError as error:
            clashes = conflicts(error)
            if clashes and not force and all(owner.startswith(PEOPLE) for _, owner in clashes):
                query["force"] = "true"
                if warn:
                    warn("takes back " + ", ".join(f"{field.lstrip('.')} from {owner}" for field, owner in clashes))
            # A plain conflict is a race between two writers of the object: the next attempt sees both.
            elif clashes or error.code != 409 or error.reason != "Conflict" or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError  # the last attempt returns or raises


def relinquish(api: Api, kind: Kind, live: Mapping[str, Any], manager: str) -> None:
    """Gives up every field that `manager` has: those that nobody else has go. Raises ApiError and Unreachable."""
    metadata = {name: live["metadata"][name] for name in ("name", "namespace") if live["metadata"].get(name)}
    bare = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata}
    apply(api, kind, bare, manager, dry=False, force=False)

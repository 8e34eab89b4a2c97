"""Managed identities: the `identity` of any resource, and whose principal is whose.

A system-assigned identity is its resource's own and goes with it; a user-assigned one is a resource that others name as
a key of `userAssignedIdentities` (ARM's common types, "managedidentity").
"""

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import access, directories, ids
from .errors import ArmError, bad_request
from .kinds import World, Write
from .store import Resource
from .tokens import DEPLOYER, Caller

IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities"
SYSTEM, USER = "SystemAssigned", "UserAssigned"


class Principal(NamedTuple):
    """`id` is the object id that roles are assigned to, `client` the application's."""

    id: str
    client: str


def check(write: Write) -> None:
    """Refuses an identity that is not there. Raises ArmError."""
    identity = write.new.body.get("identity")
    if identity is None:
        return
    if not isinstance(identity, dict) or not kinds(identity) <= {SYSTEM, USER, "None"}:
        raise bad_request("InvalidIdentityType", f"The identity type of '{write.id.text}' is none of Azure's.")
    named = identity.get("userAssignedIdentities") or {}
    if bool(named) != (USER in kinds(identity)):
        message = "The identity ids and the identity type do not fit: UserAssigned comes with userAssignedIdentities."
        raise bad_request("InvalidIdentityIds", message)
    for name in named:
        found = write.world.store.find(name)
        if found is None or not ids.same(found.id.type, IDENTITY):
            message = f"Resource '{write.id.text}' was not written: no user assigned identity '{name}' could be found."
            raise bad_request("FailedIdentityOperation", message)


def require_assign(world: World, caller: Caller, body: dict[str, Any], *, patches: bool) -> None:
    """Nobody gives a resource an identity whose rights are none of its own to give. Raises ArmError.

    `patches`: null takes an identity away; a PUT's null gives it.
    """
    identity = body.get("identity")
    named = (identity.get("userAssignedIdentities") or {}) if isinstance(identity, dict) else {}
    for name in (name for name, value in named.items() if value is not None or not patches):
        try:
            access.require(world, caller, f"{IDENTITY}/assign/action", name)
        except ArmError as error:
            message = (
                f"{error.message} The client has permission to perform the write, but not the action "
                f"'{IDENTITY}/assign/action' on the linked scope '{name}', or the linked scope is invalid."
            )
            raise ArmError(403, "LinkedAuthorizationFailed", message) from None


def settle(write: Write) -> None:
    """Fills in object and client ids."""
    identity = write.new.body.get("identity")
    if not identity:
        write.new.state.pop("principal", None)
        return
    for name in ("principalId", "tenantId"):
        identity.pop(name, None)
    if SYSTEM in kinds(identity):
        own = write.new.state.setdefault("principal", str(uuid.uuid4()))
        identity |= {"principalId": own, "tenantId": directories.of(write.id.text)}
    else:
        write.new.state.pop("principal", None)
    if USER in kinds(identity):
        identity["userAssignedIdentities"] = {
            name: {key: write.world.store.get(name).properties[key] for key in ("principalId", "clientId")}
            for name in identity["userAssignedIdentities"]
        }


def kinds(identity: dict[str, Any]) -> set[str]:
    return {part.strip() for part in str(identity.get("type", "None")).split(",")}


def principals(world: World) -> Iterator[tuple[Resource, Principal]]:
    """Of every identity, with the resource whose it is."""
    for one in world.store.all():
        if ids.same(one.id.type, IDENTITY):
            yield one, Principal(one.properties["principalId"], one.properties["clientId"])
        elif own := one.state.get("principal"):
            yield one, Principal(own, own)


def known(world: World, principal: str) -> bool:
    """Whether the tenant's directory has it. People and groups are not in the local one."""
    return principal.lower() == DEPLOYER or any(one.id == principal.lower() for _, one in principals(world))


def of(world: World, resource_id: str, client: str = "", *, object_id: str = "", named: str = "") -> Principal:
    """What a machine gets tokens for: `resource_id` is that of an identity, or of a resource that has some.

    `client` picks one of several by its client id, `object_id` by its principal, `named` by the resource id of a
    user-assigned one. Raises ArmError, as IMDS says it.
    """
    resource = world.store.get(resource_id)
    identity = resource.body.get("identity") or {}
    names = (
        [resource_id] if ids.same(resource.id.type, IDENTITY) else list(identity.get("userAssignedIdentities") or {})
    )
    found = [
        one
        for owner, one in principals(world)
        if any(ids.same(owner.id.text, name) for name in names) and (not named or ids.same(owner.id.text, named))
    ]
    own = _own(world, resource)
    if own and not named:
        found.insert(0, Principal(own, own))
    wished = (client.lower(), object_id.lower())
    fitting = [one for one in found if wished[0] in ("", one.client) and wished[1] in ("", one.id)]
    if not fitting:
        raise ArmError(400, "invalid_request", "Identity not found")
    if len(fitting) > 1 and not own:
        message = "Multiple user assigned identities exist, please specify the clientId / resourceId of the identity"
        raise ArmError(400, "invalid_request", message)
    return fitting[0]


def _own(world: World, resource: Resource) -> str | None:
    """The principal of its system-assigned identity; a scale set's machines have the set's."""
    parent = world.store.find(resource.id.parent) if resource.id.parent else None
    found: str | None = resource.state.get("principal") or (parent.state.get("principal") if parent else None)
    return found

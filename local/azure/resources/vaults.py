"""Key vaults: their names, which are unique in the world, and what is left of a deleted one until it is purged.

Source: Azure Key Vault documentation, "soft-delete overview", and Microsoft.KeyVault, "Vaults - Create Or Update".
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from .. import directories, ids
from ..availability import answer
from ..errors import ArmError, bad_request, conflict
from ..kinds import SLOW, Kind, World, Write
from ..store import Resource
from .storage_accounts import ACLS, ENDPOINT, connections

VAULT = "Microsoft.KeyVault/vaults"
DELETED = "Microsoft.KeyVault/locations/deletedVaults"
DELETED_LIST = "Microsoft.KeyVault/deletedVaults"
NAME = re.compile(r"(?=.{3,24}$)[A-Za-z](-?[A-Za-z0-9])*")
SHORTEST_DAYS, LONGEST_DAYS = 7, 90
KNOWN = frozenset(
    (
        *("accessPolicies", "createMode", "enablePurgeProtection", "enableRbacAuthorization", "enableSoftDelete"),
        *("enabledForDeployment", "enabledForDiskEncryption", "enabledForTemplateDeployment", "networkAcls"),
        *("publicNetworkAccess", "sku", "softDeleteRetentionInDays", "tenantId"),
    )
)
# The first version in which a vault that says nothing goes by roles.
ROLES_FIRST = "2026-02-01"


def find(world: World, name: str) -> Resource | None:
    return next((one for one in world.store.all(VAULT) if ids.same(one.id.name, name)), None)


def find_deleted(world: World, name: str) -> Resource | None:
    return next((one for one in world.store.all(DELETED) if ids.same(one.id.name, name)), None)


def _check(write: Write) -> None:
    name, properties = write.id.name, write.properties
    if not NAME.fullmatch(name):
        message = (
            f"The vault name '{name}' is invalid. A vault's name must be between 3-24 alphanumeric characters. The "
            "name must begin with a letter, end with a letter or digit, and not contain consecutive hyphens."
        )
        raise bad_request("VaultNameNotValid", message)
    mode = properties.pop("createMode", "default")
    if write.old is None:
        _check_name_free(write, mode)
    if mode == "recover":
        return
    tenant = directories.of(write.id.text)
    if not ids.same(properties.get("tenantId"), tenant):
        message = f"The tenant ID '{properties.get('tenantId')}' in request is not the directory's: {tenant}."
        raise bad_request("BadRequest", message)
    sku = properties.get("sku") or {}
    if str(sku.get("name", "")).lower() not in ("standard", "premium") or sku.get("family", "A") != "A":
        raise bad_request("BadRequest", "The vault's sku has the family A and the name standard or premium.")
    if properties.get("enableSoftDelete") is False:
        raise bad_request("BadRequest", "The property 'enableSoftDelete' can't be set to false.")
    if properties.get("enablePurgeProtection") is False:
        message = (
            'The property "enablePurgeProtection" cannot be set to false. Enabling the purge protection for a vault '
            "is an irreversible action."
        )
        raise bad_request("BadRequest", message)
    _check_days(write)
    by_role = properties.get("enableRbacAuthorization", write.version >= ROLES_FIRST)
    if not by_role and not isinstance(properties.get("accessPolicies"), list):
        raise bad_request("BadRequest", "The parameter accessPolicies is not specified.")


def _check_name_free(write: Write, mode: str) -> None:
    name = write.id.name
    if find(write.world, name):
        message = (
            f"The vault name '{name}' is already in use. Vault names are globally unique so it is possible that the "
            "name is already taken."
        )
        raise conflict("VaultAlreadyExists", message)
    deleted = find_deleted(write.world, name)
    own = deleted is not None and ids.same(deleted.properties["vaultId"], write.id.text)
    if deleted and not own:
        message = f"The vault name '{name}' is already in use by a deleted vault: {deleted.properties['vaultId']}."
        raise conflict("VaultAlreadyExists", message)
    if deleted and mode != "recover":
        message = (
            "A vault with the same name already exists in deleted state. You need to either recover or purge existing "
            "key vault."
        )
        raise conflict("ConflictError", message)
    if not deleted and mode == "recover":
        raise ArmError(404, "DeletedVaultNotFound", f"The deleted vault '{name}' does not exist.")


def _check_days(write: Write) -> None:
    days = write.properties.get("softDeleteRetentionInDays")
    if days is not None and not SHORTEST_DAYS <= int(days) <= LONGEST_DAYS:
        message = f"softDeleteRetentionInDays is {days}: it is {SHORTEST_DAYS} to {LONGEST_DAYS}."
        raise bad_request("BadRequest", message)
    if write.old and days not in (None, write.old.properties["softDeleteRetentionInDays"]):
        message = "The property 'softDeleteRetentionInDays' has been set already and it can't be modified."
        raise bad_request("BadRequest", message)


def _settle(write: Write) -> None:
    if write.old is None and (deleted := find_deleted(write.world, write.id.name)):
        _recover(write, deleted)
        return
    properties, old = write.properties, write.old.properties if write.old else {}
    properties.setdefault("enableRbacAuthorization", write.version >= ROLES_FIRST)
    properties.setdefault("accessPolicies", [])
    properties.setdefault("networkAcls", {**ACLS})
    properties.setdefault("publicNetworkAccess", "Enabled")
    properties["sku"] = {"family": "A", **properties["sku"]}
    properties["enableSoftDelete"] = True
    properties.setdefault("softDeleteRetentionInDays", old.get("softDeleteRetentionInDays", LONGEST_DAYS))
    if old.get("enablePurgeProtection"):
        properties["enablePurgeProtection"] = True
    properties["vaultUri"] = f"https://{write.id.name.lower()}.vault.azure.net/"


def _recover(write: Write, deleted: Resource) -> None:
    was: Resource = deleted.state["vault"]
    write.new.body = {**was.body, **({"tags": write.new.body["tags"]} if "tags" in write.new.body else {})}
    write.new.state.update(was.state)
    write.world.store.drop(deleted)
    for one in deleted.state["parts"]:
        write.world.store.put(one)


def _removed(write: Write) -> None:
    """What is deleted is kept for days, with all its secrets and keys."""
    vault, at = write.new, datetime.now(UTC)
    until = at + timedelta(days=vault.properties["softDeleteRetentionInDays"])
    id_ = ids.parse(
        f"/subscriptions/{vault.id.subscription}/providers/Microsoft.KeyVault/locations/{vault.location}"
        f"/deletedVaults/{vault.id.name}"
    )
    properties = {
        "vaultId": vault.id.text,
        "location": vault.location,
        "tags": vault.body.get("tags", {}),
        "deletionDate": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "scheduledPurgeDate": f"{until:%Y-%m-%dT%H:%M:%SZ}",
        "purgeProtectionEnabled": bool(vault.properties.get("enablePurgeProtection")),
    }
    parts = list(write.world.store.children(vault))
    state = {"vault": vault, "parts": parts}
    write.world.store.put(Resource(id_, {"properties": properties}, state=state))


def _purge(write: Write) -> Any:
    write.world.store.drop(write.new)


def _may_purge(write: Write) -> None:
    if write.properties["purgeProtectionEnabled"]:
        raise ArmError(405, "MethodNotAllowed", 'Operation "DeletedVaultPurge" is not allowed.')


def _deleted(world: World, scope: str, query: Mapping[str, str]) -> Iterable[Resource]:  # noqa: ARG001
    return world.store.all(DELETED, scope)


def availability(world: World, name: str) -> dict[str, Any]:
    taken = find(world, name) or find_deleted(world, name)
    return answer(name, NAME, f"The vault name '{name}' is in use." if taken else "")


KINDS = (
    Kind(
        VAULT,
        untagged=True,
        busy=("RegisteringDns", "RegisteringDns"),
        check=_check,
        settle=_settle,
        known=KNOWN,
        read_only=("vaultUri", "hsmPoolResourceId", "privateEndpointConnections"),
        removed=_removed,
        slow=SLOW - {"DELETE", "PATCH"},
        free=frozenset((ENDPOINT, DELETED)),
        computed=connections,
    ),
    Kind(
        DELETED,
        untagged=True,
        stateless=True,
        tracked=False,
        methods=frozenset(("GET",)),
        check_action=_may_purge,
        actions={"purge": _purge},
        slow_actions=frozenset(("purge",)),
    ),
    Kind(DELETED_LIST, untagged=True, stateless=True, tracked=False, methods=frozenset(), lists=_deleted),
)

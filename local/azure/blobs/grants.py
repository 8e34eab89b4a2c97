"""Who asks for a blob, and what that lets it do: a principal by its roles, a holder of a key or of a signature."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import access, directories, firewall, tokens
from ..errors import ArmError
from ..kinds import World
from ..roles.conditions import Request, attribute
from ..roles.evaluation import allowed
from ..store import Resource
from . import sas, shared_key

CONTAINERS = "Microsoft.Storage/storageAccounts/blobServices/containers"
BLOBS = f"{CONTAINERS}/blobs"
DELEGATE = "Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action"
LIST = "Blob.List"
# What is done → data actions of which one is enough, and letters of a signature of which one is enough ("Permissions
# for blob service operations", "Create a service SAS").
NEEDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "read": (("read",), "r"),
    "list": (("read",), "l"),
    "write": (("write",), "w"),
    "create": (("write", "add/action"), "wc"),
    "delete": (("delete",), "d"),
    "delete version": (("deleteBlobVersion/action",), "x"),
}
LETTERS = {"read": "rl", "write": "wc", "delete": "d"}  # of containers themselves, in an account's signature


@dataclass
class Grant:
    """`principal`, `signature` or neither: then `key` says whether the account's key signed the request."""

    world: World
    account: Resource
    principal: str = ""
    signature: sas.Sas | None = None
    key: bool = False

    def may(self, what: str, container: Resource, blob: str = "", prefix: str | None = None) -> bool:
        actions, letters = NEEDS[what]
        if self.key:
            return True
        if self.signature and not self._signed(letters, container, blob):
            return False
        who = self.signature.principal if self.signature else self.principal
        if self.signature and not who:
            return True
        if not who:
            return what in _public(self.account, container)
        attributes = {
            attribute("Resource", "Microsoft.Storage/storageAccounts:name"): self.account.id.name,
            attribute("Resource", "containers:name"): container.id.name,
        }
        if blob:
            attributes[attribute("Resource", "containers/blobs:path")] = blob
        if prefix is not None:
            attributes[attribute("Request", "containers/blobs:prefix")] = prefix
        part = LIST if what == "list" else ""
        return any(
            access.data_allowed(self.world, who, f"{BLOBS}/{action}", container.id.text, attributes, part)
            for action in actions
        )

    def require(self, what: str, container: Resource, blob: str = "", prefix: str | None = None) -> None:
        """Raises ArmError."""
        if self.may(what, container, blob, prefix):
            return
        if not (self.principal or self.signature or self.key):
            raise nobody(self.account)
        raise mismatch(self.signature)

    def require_container(self, what: str, scope: str) -> None:
        """`what` is read, write or delete, of a container itself; `scope` its id or the account's. Raises ArmError."""
        if self.key:
            return
        if self.signature:
            whole = self.signature.container is None
            if whole and set(LETTERS[what]) & set(self.signature.permissions):
                return
            raise mismatch(self.signature)
        if not self.principal:
            raise nobody(self.account)
        self.require_action(f"{CONTAINERS}/{what}", scope)

    def require_action(self, action: str, scope: str) -> None:
        """Of what stands among a role's actions, not among its data actions. Raises ArmError."""
        owner = self.principal == tokens.DEPLOYER
        if not self.principal or not (owner or allowed(self.world, self.principal, scope, Request(action, {}))):
            raise mismatch(self.signature)

    def _signed(self, letters: str, container: Resource, blob: str) -> bool:
        assert self.signature is not None
        there = self.signature.container in (None, container.id.name) and self.signature.blob in (None, blob)
        return there and bool(set(letters) & set(self.signature.permissions))


def mismatch(signature: sas.Sas | None) -> ArmError:
    code = "AuthorizationPermissionMismatch"
    by = " using this permission" if signature is None or signature.principal else ""
    return ArmError(403, code, f"This request is not authorized to perform this operation{by}.")


def nobody(account: Resource) -> ArmError:
    if not account.properties.get("allowBlobPublicAccess"):
        return ArmError(409, "PublicAccessNotPermitted", "Public access is not permitted on this storage account.")
    return ArmError(404, "ResourceNotFound", "The specified resource does not exist.")


def _public(account: Resource, container: Resource) -> tuple[str, ...]:
    if not account.properties.get("allowBlobPublicAccess"):
        return ()
    return {"Blob": ("read",), "Container": ("read", "list")}.get(container.properties.get("publicAccess", ""), ())


def of(
    world: World,
    account: Resource,
    method: str,
    target: str,
    headers: Mapping[str, str],
    query: Mapping[str, str],
    path: tuple[str, str],
) -> Grant:
    """A request's. `path` is container and blob. Raises ArmError."""
    if not firewall.lets_in(world, account, "blob"):
        raise ArmError(403, "AuthorizationFailure", "This request is not authorized to perform this operation.")
    scheme = headers.get("authorization", "").partition(" ")[0].lower()
    if scheme == "bearer":
        return bearer(world, account, headers["authorization"])
    if scheme == "sharedkey":
        shared_key.verify(account, method, target, headers)
        return Grant(world, account, key=True)
    if scheme:
        raise shared_key.refused(f"The local Azure does not know {scheme}.")
    if "sig" in query:
        return Grant(world, account, signature=sas.verify(account, query, *path))
    return Grant(world, account)


def bearer(world: World, account: Resource, header: str) -> Grant:
    try:
        return Grant(world, account, principal=tokens.read(header, tokens.STORAGE).principal)
    except ArmError as error:
        url = f"https://login.microsoftonline.com/{directories.of(account.id.text)}/oauth2/authorize"
        challenge = f"Bearer authorization_uri={url} resource_id={tokens.STORAGE}"
        marked: Any = (("WWW-Authenticate", challenge),)
        raise ArmError(401, "InvalidAuthenticationInfo", error.message, headers=marked) from None

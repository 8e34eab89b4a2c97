"""Secrets of a vault and what is deleted of them ("Azure Key Vault REST API", secrets)."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import ids
from ..errors import ArmError
from ..kinds import World
from ..resources.vault_contents import ATTRIBUTES, SECRET, Version, check_name, check_value, refuse_deleted
from ..resources.vaults import LONGEST_DAYS
from ..store import Resource

DAY_SECONDS = 86_400


@dataclass
class Deleted:
    """`at`: seconds since 1970."""

    secret: Resource
    at: int


class Secrets:
    """Of one vault."""

    def __init__(self, world: World, vault: Resource) -> None:
        self.world, self.vault = world, vault
        self.gone: dict[str, Deleted] = vault.state.setdefault("deleted secrets", {})
        for name, one in list(self.gone.items()):
            if time.time() > self._purged_at(one):
                del self.gone[name]

    @property
    def protected(self) -> bool:
        return bool(self.vault.properties.get("enablePurgeProtection"))

    def _purged_at(self, one: Deleted) -> int:
        return one.at + int(self.vault.properties["softDeleteRetentionInDays"]) * DAY_SECONDS

    def get(self, name: str) -> Resource:
        """Raises ArmError."""
        found = self.world.store.find(f"{self.vault.id.text}/secrets/{name}")
        if found is None:
            message = (
                f"A secret with (name/id) {name} was not found in this key vault. If you recently deleted this secret "
                "you may be able to recover it using the correct recovery command."
            )
            raise ArmError(404, "SecretNotFound", message)
        return found

    def version(self, secret: Resource, id_: str = "") -> Version:
        """The newest, or one by its id. Raises ArmError."""
        found = [one for one in secret.state["versions"] if id_ in ("", one.id)]
        if not found:
            raise ArmError(404, "SecretNotFound", f"A secret with (name/id) {secret.id.name}/{id_} was not found.")
        last: Version = found[-1]
        return last

    def put(self, name: str, body: Mapping[str, Any]) -> tuple[Resource, Version]:
        check_name(name)
        check_value(body.get("value"))
        refuse_deleted(self.vault, "secret", name)
        id_ = ids.parse(f"{self.vault.id.text}/secrets/{name}")
        secret = self.world.store.find(id_) or Resource(id_, {"properties": {}}, state={"versions": []})
        made = Version(body["value"], _attributes(body), body.get("contentType"), dict(body.get("tags") or {}))
        secret.state["versions"].append(made)
        secret.body["tags"] = made.tags
        secret.changed()
        self.world.store.put(secret)
        return secret, made

    def change(self, name: str, id_: str, body: Mapping[str, Any]) -> tuple[Resource, Version]:
        secret = self.get(name)
        found = self.version(secret, id_)
        found.attributes = {**found.attributes, **_attributes(body)}
        found.content_type = body.get("contentType", found.content_type)
        found.tags = dict(body["tags"]) if body.get("tags") is not None else found.tags
        found.updated = int(time.time())
        secret.changed()
        return secret, found

    def delete(self, name: str) -> Deleted:
        secret = self.get(name)
        self.world.store.drop(secret)
        made = self.gone[name.lower()] = Deleted(secret, int(time.time()))
        return made

    def deleted(self, name: str) -> Deleted:
        """Raises ArmError."""
        found = self.gone.get(name.lower())
        if found is None:
            raise ArmError(404, "SecretNotFound", f"Deleted Secret not found: {name}")
        return found

    def recover(self, name: str) -> Resource:
        found = self.deleted(name)
        del self.gone[name.lower()]
        self.world.store.put(found.secret)
        return found.secret

    def purge(self, name: str) -> None:
        self.deleted(name)
        if self.protected:
            message = 'Operation "purge" is not allowed because purge protection is enabled for this vault.'
            raise ArmError(403, "Forbidden", message)
        del self.gone[name.lower()]

    def every(self) -> Iterator[Resource]:
        yield from sorted(self.world.store.children(self.vault, SECRET), key=lambda one: one.id.name)

    def bundle(self, secret: Resource, version: Version, *, value: bool = False, id_: bool = True) -> dict[str, Any]:
        """As the service tells of one. `id_`: with the version in its id, as all but lists of secrets have it."""
        days = int(self.vault.properties["softDeleteRetentionInDays"])
        level = (
            ("" if days == LONGEST_DAYS else "Customized") + "Recoverable" + ("" if self.protected else "+Purgeable")
        )
        attributes = {"enabled": True, **version.attributes, "created": version.created, "updated": version.updated}
        bundle: dict[str, Any] = {
            "id": f"{self.uri('secrets', secret.id.name)}{'/' + version.id if id_ else ''}",
            "attributes": {**attributes, "recoveryLevel": level, "recoverableDays": days},
        }
        bundle |= {"tags": version.tags} if version.tags else {}
        bundle |= {"contentType": version.content_type} if version.content_type else {}
        return {**bundle, "value": version.value} if value else bundle

    def deleted_bundle(self, one: Deleted, *, id_: bool = True) -> dict[str, Any]:
        bundle = self.bundle(one.secret, self.version(one.secret), id_=id_)
        return {
            **bundle,
            "recoveryId": self.uri("deletedsecrets", one.secret.id.name),
            "deletedDate": one.at,
            "scheduledPurgeDate": self._purged_at(one),
        }

    def uri(self, sort: str, name: str) -> str:
        return f"https://{self.vault.id.name.lower()}.vault.azure.net/{sort}/{name}"


def _attributes(body: Mapping[str, Any]) -> dict[str, Any]:
    given = body.get("attributes") or {}
    return {key: given[key] for key in ATTRIBUTES if given.get(key) is not None}

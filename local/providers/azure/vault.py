"""Secrets and keys of a vault: ARM makes and tells them, and only the vault itself deletes them."""

import json

from ..codec import Properties
from .arm import Refused, patiently
from .engine import Engine

# Token → what the vault calls them.
IN_VAULT = {"azure-native:keyvault:Secret": "secrets", "azure-native:keyvault:Key": "keys"}
AUDIENCE, SUFFIX, VERSION = "https://vault.azure.net", "vault.azure.net", "7.4"


class InVault(Engine):
    """As the real provider's pkg/resources/customresources/custom_keyvault.go."""

    def delete(self, id_: str, state: Properties) -> None:  # noqa: ARG002
        values = self.path_values(id_)
        path = f"/{IN_VAULT[self.token]}/{values[self.kind.named]}"
        headers = {"Authorization": f"Bearer {self.arm.token(AUDIENCE)}", "Content-Type": "application/json"}
        name, query = f"{values['vaultName']}.{SUFFIX}", {"api-version": VERSION}
        answer = patiently(lambda: self.arm.transport.ask("DELETE", name, path, query=query, headers=headers))
        if answer.status not in (200, 202, 204, 404):
            error = (json.loads(answer.data or b"{}") or {}).get("error", {})
            raise Refused(answer.status, error.get("code", "Unknown"), error.get("message", ""))

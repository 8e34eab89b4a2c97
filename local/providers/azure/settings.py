"""What a provider of `azure-native` may be given: which settings are honoured, mean nothing here, or are refused."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..servicer import ProviderError
from .transport import Account

# Setting → variables that are read when the program does not set it: the real provider's own, then those of Azure's
# clients, which stand for whoever has signed in with Azure's command line.
FROM_ENVIRONMENT = {
    "subscriptionId": ("ARM_SUBSCRIPTION_ID",),
    "tenantId": ("ARM_TENANT_ID", "AZURE_TENANT_ID"),
    "clientId": ("ARM_CLIENT_ID", "AZURE_CLIENT_ID"),
    "clientSecret": ("ARM_CLIENT_SECRET", "AZURE_CLIENT_SECRET"),
    "location": ("ARM_LOCATION_NAME",),
    "environment": ("ARM_ENVIRONMENT",),
}
# Without meaning where nothing is billed to a partner and no other authority can be asked.
HARMLESS = frozenset(
    ("version", "disablePulumiPartnerId", "partnerId", "disableInstanceDiscovery", "useDefaultAzureCredential")
)
# Ways to sign in that the local cloud does not have: off is fine.
WAYS = frozenset(("useMsi", "useOidc"))
PUBLIC = frozenset(("public", "azure", "azurecloud", "azurepublic", "azurepubliccloud"))


class Settings(NamedTuple):
    subscription: str
    account: Account
    location: str | None


def settings(config: Mapping[str, Any]) -> Settings:
    """Raises ProviderError for what is missing or unknown."""
    given = {name: value for name, value in config.items() if value not in (None, "") and name not in HARMLESS}
    strange = [n for n in given if n not in FROM_ENVIRONMENT and not (n in WAYS and str(given[n]).lower() == "false")]
    if strange:
        raise ProviderError(f"the local cloud does not know the setting {', '.join(sorted(strange))}: leave it out")
    found = {name: _value(given.get(name), variables) for name, variables in FROM_ENVIRONMENT.items()}
    if found["environment"] and found["environment"].lower() not in PUBLIC:
        raise ProviderError(f"the local cloud is Azure's public one: environment {found['environment']} is not there")
    for name in ("subscriptionId", "tenantId", "clientId", "clientSecret"):
        if not found[name]:
            ways = " or ".join(FROM_ENVIRONMENT[name])
            raise ProviderError(f"the provider has no {name}: set it on the azure_native.Provider, or {ways}")
    account = Account(found["tenantId"], found["clientId"], found["clientSecret"])
    return Settings(found["subscriptionId"], account, found["location"] or None)


def _value(given: Any, variables: tuple[str, ...]) -> str:
    return str(given or next((os.environ[name] for name in variables if os.environ.get(name)), ""))

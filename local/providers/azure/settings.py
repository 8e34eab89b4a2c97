"""What a provider of `azure-native` may be given: which settings are honoured, mean nothing here, or are refused."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..servicer import ProviderError
from .transport import Account

# Setting → the variable that the real provider reads when the program does not set it.
FROM_ENVIRONMENT = {
    "subscriptionId": "ARM_SUBSCRIPTION_ID",
    "tenantId": "ARM_TENANT_ID",
    "clientId": "ARM_CLIENT_ID",
    "clientSecret": "ARM_CLIENT_SECRET",
    "location": "ARM_LOCATION_NAME",
    "environment": "ARM_ENVIRONMENT",
}
# Without meaning where nothing is billed to a partner and no other authority can be asked.
HARMLESS = frozenset(("version", "disablePulumiPartnerId", "partnerId", "disableInstanceDiscovery"))
# Ways to sign in that the local cloud does not have: off is fine.
WAYS = frozenset(("useMsi", "useOidc", "useDefaultAzureCredential"))
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
    found = {name: str(given.get(name) or os.environ.get(env, "")) for name, env in FROM_ENVIRONMENT.items()}
    if found["environment"] and found["environment"].lower() not in PUBLIC:
        raise ProviderError(f"the local cloud is Azure's public one: environment {found['environment']} is not there")
    for name, words in (("subscriptionId", "subscription"), ("tenantId", "tenant"), ("clientId", "client")):
        if not found[name]:
            raise ProviderError(
                f"the provider has no {words}: set {name} on the azure_native.Provider, or {FROM_ENVIRONMENT[name]}"
            )
    if not found["clientSecret"]:
        raise ProviderError("the provider has no clientSecret: set it, or ARM_CLIENT_SECRET")
    account = Account(found["tenantId"], found["clientId"], found["clientSecret"])
    return Settings(found["subscriptionId"], account, found["location"] or None)

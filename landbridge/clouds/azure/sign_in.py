"""How our own calls to Azure sign in: as Pulumi's azure-native plugin does, so that one login is enough for both."""

import os
from typing import Any

# The plugin's own; beside them DefaultAzureCredential knows AZURE_…, managed identities and `az login`.
SECRET = ("ARM_TENANT_ID", "ARM_CLIENT_ID", "ARM_CLIENT_SECRET")


def credential() -> Any:
    """A credential of azure-identity; it calls nobody yet."""
    # A second of imports that few runs need.
    from azure.identity import ClientSecretCredential, DefaultAzureCredential

    secret = [os.environ.get(name, "") for name in SECRET]
    return ClientSecretCredential(*secret) if all(secret) else DefaultAzureCredential()

"""The look-ups that programs make at Azure. A get… of any type in the tables needs no entry of its own."""

import base64
import json
from collections.abc import Callable
from typing import Any

from ..codec import Properties
from ..servicer import ProviderError
from .arm import AUDIENCE
from .tables import KINDS

KEYS_VERSION = "2024-01-01"


def _client(azure: Any, arguments: Properties) -> Properties:  # noqa: ARG001
    claims = azure.arm.token().split(".")[1]
    payload = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    account = azure.settings.account
    return {
        "clientId": account.client,
        "objectId": payload["oid"],
        "subscriptionId": azure.settings.subscription,
        "tenantId": account.tenant,
    }


def _token(azure: Any, arguments: Properties) -> Properties:
    return {"token": azure.arm.token(str(arguments.get("endpoint") or AUDIENCE))}


def _account_keys(azure: Any, arguments: Properties) -> Properties:
    path = azure.engine("azure-native:storage:StorageAccount").id_of(arguments)
    return {"keys": azure.arm.post(f"{path}/listKeys", KEYS_VERSION)["keys"]}


def _get(azure: Any, token: str, arguments: Properties) -> Properties:
    engine = azure.engine(token)
    id_ = engine.id_of(arguments)
    found = engine.arm.get(id_, engine.version)
    if found is None:
        raise ProviderError(f"there is no '{id_}'")
    return {**engine.outputs(found), "id": found.get("id", id_)}


INVOKES: dict[str, Callable[[Any, Properties], Properties]] = {
    "azure-native:authorization:getClientConfig": _client,
    "azure-native:authorization:getClientToken": _token,
    "azure-native:storage:listStorageAccountKeys": _account_keys,
}


def invoke(azure: Any, token: str, arguments: Properties) -> Properties:
    """Raises ProviderError for what the local cloud can't answer."""
    if token in INVOKES:
        return INVOKES[token](azure, arguments)
    of = token.replace(":get", ":")
    if ":get" not in token or of not in KINDS:
        raise ProviderError(f"the local cloud can't answer {token} yet")
    return _get(azure, of, arguments)

"""Storage accounts: their names, kinds, keys and endpoints (Microsoft.Storage, "Storage Accounts - Create")."""

import base64
import re
import secrets
from typing import Any

from .. import ids
from ..availability import answer
from ..errors import bad_request, conflict
from ..kinds import SLOW, Kind, World, Write
from ..operations import now
from ..store import Resource, merged
from .account_services import ACCOUNT, BLOBS, FILES, blob_defaults, file_defaults

ENDPOINT = "Microsoft.Network/privateEndpoints"
NAME = re.compile(r"[a-z0-9]{3,24}")
# Kind → the services it has, and whether it takes disks of the premium sort, of the standard one, or both.
SERVICES = {
    "StorageV2": ("blob", "file", "queue", "table", "dfs", "web"),
    "Storage": ("blob", "file", "queue", "table"),
    "BlobStorage": ("blob", "dfs"),
    "BlockBlobStorage": ("blob", "dfs", "web"),
    "FileStorage": ("file",),
}
PREMIUM_ONLY, STANDARD_ONLY = ("FileStorage", "BlockBlobStorage"), ("BlobStorage",)
SKUS = re.compile(
    r"Standard_(LRS|GRS|RAGRS|ZRS|GZRS|RAGZRS)|Premium_(LRS|ZRS)|StandardV2_(LRS|GRS|ZRS|GZRS)|PremiumV2_(LRS|ZRS)"
)
TLS = ("TLS1_0", "TLS1_1", "TLS1_2", "TLS1_3")
# Property → what it may be.
ENUMS: dict[str, tuple[Any, ...]] = {
    "minimumTlsVersion": TLS,
    "publicNetworkAccess": ("Enabled", "Disabled", "SecuredByPerimeter"),
    "accessTier": ("Hot", "Cool", "Premium", "Cold"),
    **dict.fromkeys(
        (
            *("allowBlobPublicAccess", "allowSharedKeyAccess", "supportsHttpsTrafficOnly", "isHnsEnabled"),
            *("isNfsV3Enabled", "defaultToOAuthAuthentication", "allowCrossTenantReplication"),
        ),
        (True, False),
    ),
}
FIXED = ("isHnsEnabled", "isNfsV3Enabled")
# What else a caller may say ("Storage Accounts - Create"): kept and told.
ALSO = (
    *("allowCrossTenantDelegationSas", "allowSharedKeyAccessForServices", "allowedCopyScope", "customDomain"),
    *("azureFilesIdentityBasedAuthentication", "dataCollaborationPolicyProperties", "dnsEndpointType", "encryption"),
    *("dualStackEndpointPreference", "enableExtendedGroups", "geoPriorityReplicationStatus", "isLocalUserEnabled"),
    *("immutableStorageWithVersioning", "isSftpEnabled", "keyPolicy", "largeFileSharesState", "networkAcls"),
    *("routingPreference", "sasPolicy", "turboTier"),
)
READ_ONLY = (
    *("creationTime", "primaryEndpoints", "primaryLocation", "statusOfPrimary", "privateEndpointConnections"),
    *("keyCreationTime", "isSkuConversionBlocked", "secondaryEndpoints", "secondaryLocation", "statusOfSecondary"),
)
ACLS = {"bypass": "AzureServices", "defaultAction": "Allow", "ipRules": [], "virtualNetworkRules": []}
KEY_BYTES = 64


def find(world: World, name: str) -> Resource | None:
    """The account of a name, of all subscriptions'."""
    return next((one for one in world.store.all(ACCOUNT) if ids.same(one.id.name, name)), None)


def _check(write: Write) -> None:
    name, body = write.id.name, write.new.body
    if not NAME.fullmatch(name):
        message = (
            f"{name} is not a valid storage account name. Storage account name must be between 3 and 24 characters in "
            "length and use numbers and lower-case letters only."
        )
        raise bad_request("AccountNameInvalid", message)
    _check_name_free(write)
    if write.old and write.old.body.get("kind"):
        body.setdefault("kind", write.old.body["kind"])
        body.setdefault("sku", write.old.body["sku"])
    sku, kind = (body.get("sku") or {}).get("name", ""), body.get("kind", "")
    for what, fits in (("sku", SKUS.fullmatch(sku)), ("kind", kind in SERVICES)):
        if not fits:
            raise bad_request(
                "InvalidValuesForRequestParameters", f"Values for request parameters are invalid: {what}."
            )
    premium = sku.startswith("Premium")
    if (kind in PREMIUM_ONLY and not premium) or (kind in STANDARD_ONLY and premium):
        raise bad_request("InvalidAccountSku", f"The account kind {kind} does not come with the SKU {sku}.")
    for property_, allowed in ENUMS.items():
        if (value := write.properties.get(property_)) is not None and value not in allowed:
            message = f"Values for request parameters are invalid: {property_}. It is one of {allowed}."
            raise bad_request("InvalidValuesForRequestParameters", message)
    if write.old:
        _check_change(write, sku)
        _carry(write.old.properties, write.properties)


def _check_name_free(write: Write) -> None:
    if write.old or (other := find(write.world, write.id.name)) is None:
        return
    if ids.same(other.id.subscription, write.id.subscription):
        message = f"The account {write.id.name} is already in another resource group in this subscription."
        raise conflict("StorageAccountInAnotherResourceGroup", message)
    raise conflict("StorageAccountAlreadyTaken", f"The storage account named {write.id.name} is already taken.")


def _check_change(write: Write, sku: str) -> None:
    assert write.old is not None
    was, old = write.old.body["sku"]["name"], write.old.properties
    if sku.partition("_")[0] != was.partition("_")[0]:
        message = f"Storage account {write.id.name}: a change from SKU {was} to {sku} is not allowed."
        raise conflict("SkuUpdateNotAllowed", message)
    for name in FIXED:
        if write.properties.get(name, old.get(name)) != old.get(name):
            raise bad_request(
                "AccountPropertyCannotBeUpdated", f"The property '{name}' was specified, but is read-only."
            )


def _carry(old: dict[str, Any], new: dict[str, Any]) -> None:
    """A PUT of one that is there changes what it names and leaves the rest: at once, or it were open until settled."""
    for name in (*ENUMS, "networkAcls"):
        if new.get(name) is None and name in old:
            new[name] = old[name]


def _settle(write: Write) -> None:
    body, old = write.new.body, write.old.properties if write.old else {}
    sku, kind = body["sku"]["name"], body["kind"]
    sku_tier = "Premium" if sku.startswith("Premium") else "Standard"
    body["sku"] = {"name": sku, "tier": sku_tier}
    given = {name: value for name, value in write.properties.items() if value is not None}
    defaults: dict[str, Any] = {
        "supportsHttpsTrafficOnly": True,
        "minimumTlsVersion": "TLS1_0",
        "allowBlobPublicAccess": False,
        "publicNetworkAccess": "Enabled",
        "networkAcls": ACLS,
        "encryption": {"keySource": "Microsoft.Storage", "services": _encrypted(kind, old)},
        "creationTime": now(),
        "primaryLocation": write.new.location,
        "statusOfPrimary": "available",
        "primaryEndpoints": {
            service: f"https://{write.id.name}.{service}.core.windows.net/" for service in SERVICES[kind]
        },
    }
    if sku_tier == "Standard":
        defaults["accessTier"] = "Hot"
    computed = {name: old.get(name, defaults[name]) for name in ("creationTime", "primaryLocation")}
    body["properties"] = merged(merged(defaults, given), computed)
    if not write.new.secret.get("keys"):
        write.new.secret["keys"] = [_key(name) for name in ("key1", "key2")]
    for service, type_, settings in (("blob", BLOBS, blob_defaults()), ("file", FILES, file_defaults())):
        id_ = ids.parse(f"{write.id.text}/{type_.rpartition('/')[2]}/default")
        if service in SERVICES[kind] and write.world.store.find(id_) is None:
            write.world.store.put(Resource(id_, {"properties": settings}))


def _encrypted(kind: str, old: dict[str, Any]) -> dict[str, Any]:
    since = old.get("creationTime") or now()
    encryption = {"enabled": True, "keyType": "Account", "lastEnabledTime": since}
    return {service: dict(encryption) for service in ("blob", "file") if service in SERVICES[kind]}


def _key(name: str) -> dict[str, str]:
    value = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    return {"keyName": name, "value": value, "permissions": "FULL", "creationTime": now()}


def _list_keys(write: Write) -> Any:
    return {"keys": write.new.secret["keys"]}


def _regenerate(write: Write) -> Any:
    keys = write.new.secret["keys"]
    at = next((n for n, one in enumerate(keys) if one["keyName"] == write.body.get("keyName")), None)
    if at is None:
        raise bad_request("InvalidValuesForRequestParameters", "Values for request parameters are invalid: keyName.")
    keys[at] = _key(keys[at]["keyName"])
    return {"keys": keys}


def connections(world: World, resource: Resource) -> dict[str, Any]:
    """`privateEndpointConnections` of what private endpoints lead to."""
    found = []
    for endpoint in world.store.all(ENDPOINT):
        for sort, automatic in (
            ("privateLinkServiceConnections", True),
            ("manualPrivateLinkServiceConnections", False),
        ):
            for one in endpoint.properties.get(sort) or ():
                properties = one.get("properties", {})
                if ids.same(properties.get("privateLinkServiceId"), resource.id.text):
                    status = "Approved" if automatic else "Pending"
                    state = properties.get("privateLinkServiceConnectionState", {}).get("status", status)
                    found.append(_connection(resource, endpoint, properties, state))
    return {"privateEndpointConnections": found}


def _connection(resource: Resource, endpoint: Resource, properties: dict[str, Any], status: str) -> dict[str, Any]:
    name = f"{resource.id.name}.{endpoint.etag[:8]}"
    return {
        "id": f"{resource.id.text}/privateEndpointConnections/{name}",
        "name": name,
        "type": f"{resource.id.type}/privateEndpointConnections",
        "properties": {
            "provisioningState": "Succeeded",
            "privateEndpoint": {"id": endpoint.id.text},
            "groupIds": properties.get("groupIds", []),
            "privateLinkServiceConnectionState": {"status": status, "actionRequired": "None"},
        },
    }


def availability(world: World, name: str) -> dict[str, Any]:
    return answer(name, NAME, f"The storage account named {name} is already taken." if find(world, name) else "")


KINDS = (
    Kind(
        ACCOUNT,
        untagged=True,
        busy=("Creating", "ResolvingDNS"),
        check=_check,
        settle=_settle,
        known=frozenset((*ENUMS, *ALSO)),
        read_only=READ_ONLY,
        actions={"listKeys": _list_keys, "regenerateKey": _regenerate},
        slow=SLOW - {"DELETE", "PATCH"},
        statuses=(202, 200),
        free=frozenset((ENDPOINT,)),
        computed=connections,
    ),
)

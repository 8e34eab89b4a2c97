"""Azure's storage accounts, vaults and disks: closed to the public, TLS alone, and nothing in them lost for good."""

from collections.abc import Iterator
from typing import Any

from fleet import issuers
from fleet.model import Fleet
from fleet.world import World

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable
from ..settings import Setting, judged

ACCOUNT, CONTAINER = "azure-native:storage:StorageAccount", "azure-native:storage:BlobContainer"
DENY, DISABLED = "Deny", "Disabled"
PRIVATE = "Leave it to the private endpoint"


def _of_shares(props: dict[str, Any]) -> bool:
    """Files over NFS know no TLS: the one exception, of an account that has no public way in."""
    return props.get("kind") == "FileStorage" and props.get("publicNetworkAccess") == DISABLED


def _of_blobs(props: dict[str, Any]) -> bool:
    return props.get("kind") not in ("FileStorage", UNKNOWN)


CLOSED = {
    ACCOUNT: {
        "minimumTlsVersion": Setting(("TLS1_2", "TLS1_3"), "Set it to TLS1_2"),
        "enableHttpsTrafficOnly": Setting(
            (True,), "Set it to true; shares over NFS have an account without public access", _of_shares
        ),
        # Blobs are for who has a role, wherever they are; shares have nothing but the network.
        "publicNetworkAccess": Setting((DISABLED,), PRIVATE, _of_blobs),
        "networkRuleSet.defaultAction": Setting((DENY,), "Set it to Deny", _of_blobs),
        "allowCrossTenantReplication": Setting((False, None), "Set it to false"),
        "isLocalUserEnabled": Setting((False, None), "Leave it out: people have identities"),
        "isSftpEnabled": Setting((False, None), "Leave it out: people have identities"),
    },
    "azure-native:keyvault:Vault": {
        "properties.enableRbacAuthorization": Setting((True,), "Set it to true: roles say who may, and nothing else"),
    },
    "azure-native:compute:Disk": {
        "networkAccessPolicy": Setting(("DenyAll",), "Set it to DenyAll: nobody copies a disk by its address"),
        "publicNetworkAccess": Setting((DISABLED,), "Set it to Disabled"),
    },
}
PROTECTION = {
    "azure-native:storage:BlobServiceProperties": {
        "isVersioningEnabled": Setting((True,), "Set it to true: replaced blobs are lost otherwise"),
        "deleteRetentionPolicy.enabled": Setting((True,), "Set it to true: deleted blobs are lost otherwise"),
    },
    "azure-native:keyvault:Vault": {
        "properties.enableSoftDelete": Setting((True,), "Set it to true"),
        "properties.enablePurgeProtection": Setting((True,), "Set it to true: nobody ends what was deleted"),
    },
}
# Type → what opens blobs to everybody.
PUBLIC = {ACCOUNT: ("allowBlobPublicAccess",), CONTAINER: ("publicAccess",)}
# Of one blob by its name, never of a list of them.
OPEN, ISSUER = {False, None, "None"}, {True, "Blob"}


def closed(found: list[Item], world: World) -> Iterator[Finding]:
    yield from judged(found, CLOSED)
    issuing = {*_issuers(world.fleet)}
    for item in of_types(found, PUBLIC):
        for path in PUBLIC[item.type]:
            yield from _public(item, path, issuing)


def recoverable(found: list[Item]) -> Iterator[Finding]:
    yield from judged(found, PROTECTION)


def _issuers(fleet: Fleet) -> Iterator[str]:
    """Accounts of clusters' public issuers, which hold two documents with public keys and nothing else."""
    for name, cluster in fleet.clusters.items():
        if cluster.region in fleet.regions and fleet.regions[cluster.region].cloud == "azure":
            yield issuers.bucket(fleet, name)


def _public(item: Item, path: str, issuing: set[str]) -> Iterator[Finding]:
    value, account = item.props.get(path), item.props.get("accountName")
    # What an account leaves out, older ones of Azure's took for yes; a container's own for no.
    right = OPEN - {None} if item.type == ACCOUNT else OPEN
    if value is UNKNOWN or (value not in right and account is UNKNOWN):
        yield undecidable(item, path if value is UNKNOWN else "accountName")._replace(path=path)
    elif value not in right and not (account in issuing and value in ISSUER):
        shown = "left out" if value is None else value
        what = f"{path} is {shown}: everybody may read what lies there, or be let"
        yield finding(item, path, what, "Close it: roles say who reads")

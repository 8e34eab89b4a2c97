"""Azure Files: a storage account's file service and its shares, by SMB or by NFS 4.1 ("File Shares - Create")."""

import re
from typing import Any

from ..errors import bad_request, conflict
from ..kinds import Kind, World, Write
from ..operations import now
from ..store import Resource
from .account_services import FILES, check_retention, default_only, file_defaults, service_of_account

SHARE = f"{FILES}/shares"
NAME = re.compile(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")
LARGEST_GIB = 102_400
# "Azure Files scalability and performance targets": a premium share is paid for by its size.
SMALLEST_PREMIUM_GIB, SMALLEST_V2_GIB = 100, 32
USED = "usedBytes"
PROTOCOLS, SQUASHES = ("SMB", "NFS"), ("NoRootSquash", "RootSquash", "AllSquash")


def _service(write: Write) -> None:
    default_only(write)
    check_retention("shareDeleteRetentionPolicy", write.properties.get("shareDeleteRetentionPolicy"))


def _share(write: Write) -> None:
    if not NAME.fullmatch(write.id.name):
        raise bad_request("InvalidResourceName", f"'{write.id.name}' is no share's name.")
    properties = write.properties
    account = write.world.store.get("/".join(write.id.text.split("/")[:-4]))
    premium, sku = account.body["kind"] == "FileStorage", account.body["sku"]["name"]
    smallest = 1 if not premium else SMALLEST_V2_GIB if sku.startswith("PremiumV2") else SMALLEST_PREMIUM_GIB
    quota = properties.setdefault("shareQuota", write.old.properties["shareQuota"] if write.old else LARGEST_GIB)
    if not isinstance(quota, int) or not smallest <= quota <= LARGEST_GIB:
        message = f"shareQuota is {quota}: a share of this account has {smallest} to {LARGEST_GIB} GiB."
        raise bad_request("InvalidHeaderValue", message)
    protocol = properties.setdefault(
        "enabledProtocols", write.old.properties["enabledProtocols"] if write.old else "SMB"
    )
    if write.old and protocol != write.old.properties["enabledProtocols"]:
        raise conflict("ShareProtocolCannotBeChanged", f"Share {write.id.name} keeps the protocol it was made with.")
    if protocol not in PROTOCOLS or properties.get("rootSquash", SQUASHES[0]) not in SQUASHES:
        raise bad_request("InvalidHeaderValue", f"enabledProtocols is of {PROTOCOLS}, rootSquash of {SQUASHES}.")
    if protocol != "NFS" and "rootSquash" in properties:
        raise bad_request("InvalidHeaderValue", "rootSquash is for NFS shares alone.")
    if protocol == "NFS" and not premium:
        message = "NFS shares are in accounts of kind FileStorage with a premium SKU alone."
        raise bad_request("FeatureNotSupportedForAccount", message)
    if protocol == "NFS" and account.properties.get("supportsHttpsTrafficOnly"):
        message = "NFS knows no HTTPS: the account of an NFS share has supportsHttpsTrafficOnly false."
        raise bad_request("FeatureNotSupportedForAccount", message)


def _share_settled(write: Write) -> None:
    properties = write.properties
    if properties["enabledProtocols"] == "NFS":
        properties.setdefault("rootSquash", SQUASHES[0])
    premium = write.world.store.get("/".join(write.id.text.split("/")[:-4])).body["kind"] == "FileStorage"
    properties.setdefault("accessTier", "Premium" if premium else "TransactionOptimized")
    properties |= {"lastModifiedTime": now(), "leaseStatus": "Unlocked", "leaseState": "Available"}


def _stats(_: World, share: Resource) -> dict[str, Any]:
    return {"shareUsageBytes": share.state.get(USED, 0)}


def use(world: World, share: str, used_bytes: int) -> None:
    """So much lies in it: PUT /landbridge-api/used ["ID", 1000]. Raises ArmError."""
    found = world.store.get(share)
    if not isinstance(used_bytes, int) or not 0 <= used_bytes <= found.properties["shareQuota"] * 2**30:
        raise ValueError(f"{share} does not hold {used_bytes} bytes")
    found.state[USED] = used_bytes
    found.changed()


KINDS = (
    service_of_account(FILES, _service, file_defaults),
    Kind(SHARE, stateless=True, tracked=False, check=_share, settle=_share_settled, expands={"stats": _stats}),
)

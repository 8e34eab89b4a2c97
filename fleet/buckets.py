"""Names of each region's fleet bucket, and of what holds its keys: known before any of it exists."""

import hashlib

from .model import Fleet

# Storage accounts and vaults of Azure: 3 to 24 characters, unique in the world. The beginning is for people.
MOST, READABLE = 24, 13
# In the environment of a stack's program: the name of a vault that was deleted and shall come back.
RECOVER = "LANDBRIDGE_RECOVER_VAULT"


def bucket_name(fleet: Fleet, region: str) -> str:
    """Unique in the world: AWS's bucket by its account's number, Azure's storage account by a digest."""
    if in_azure(fleet, region):
        return unique(fleet, region, "bucket")
    assert fleet.aws is not None
    return f"{fleet.fleet}-{region}-{fleet.aws.account_id}"


def bucket_arn(fleet: Fleet, region: str) -> str:
    """Policies must be decidable at preview."""
    return f"arn:aws:s3:::{bucket_name(fleet, region)}"


def key_alias(fleet: Fleet, region: str) -> str:
    """As KMS takes it."""
    return f"alias/{fleet.fleet}-{region}"


def resource_group(fleet: Fleet, region: str) -> str:
    """Of everything that an Azure region holds. Azure takes 90 characters, more than a fleet and a region have."""
    return f"{fleet.fleet}-{region}"


def vault_name(fleet: Fleet, region: str) -> str:
    """The Key Vault of an Azure region."""
    return unique(fleet, region, "vault")


def shares_account(fleet: Fleet, region: str) -> str:
    """The storage account of an Azure region's shares: those of NFS take no account that has anything else."""
    return unique(fleet, region, "shares")


def in_azure(fleet: Fleet, region: str) -> bool:
    return region in fleet.regions and fleet.regions[region].cloud == "azure"


def readable(fleet: Fleet, region: str) -> str:
    """What names that are unique in the world begin with."""
    return f"{fleet.fleet}{region}".replace("-", "")[:READABLE]


def unique(fleet: Fleet, region: str, what: str) -> str:
    """Lower-case letters and digits, which both accounts and vaults take."""
    assert fleet.azure is not None
    named = f"{fleet.fleet}/{region}/{what}/{fleet.azure.subscription_id}"
    return f"{readable(fleet, region)}{hashlib.sha256(named.encode()).hexdigest()[: MOST - READABLE]}"


def unique_names(fleet: Fleet) -> frozenset[str]:
    """Of Azure, whose ends are digests: machines there are told them."""
    regions = [name for name in fleet.regions if in_azure(fleet, name)]
    return frozenset(made(fleet, name) for name in regions for made in (bucket_name, vault_name, shares_account))

"""Names of each region's fleet bucket and of the key that encrypts it: known before either exists."""

from .model import Fleet


def bucket_name(fleet: Fleet, region: str) -> str:
    """Unique in the world, because account numbers are."""
    assert fleet.aws is not None
    return f"{fleet.fleet}-{region}-{fleet.aws.account_id}"


def bucket_arn(fleet: Fleet, region: str) -> str:
    """Policies must be decidable at preview."""
    return f"arn:aws:s3:::{bucket_name(fleet, region)}"


def key_alias(fleet: Fleet, region: str) -> str:
    """As KMS takes it."""
    return f"alias/{fleet.fleet}-{region}"

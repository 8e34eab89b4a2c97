"""The public issuer of a cluster's service accounts: two documents in a bucket of its own, readable by everybody.

Clouds read them to check pods' tokens. The address is fixed at birth: tokens and cloud roles name it.
"""

from .buckets import in_azure, unique
from .fitting import fitting
from .model import Fleet

# Whom tokens for cloud roles are meant for.
AUDIENCE = "sts.amazonaws.com"
CONFIGURATION, KEYS = ".well-known/openid-configuration", "openid/v1/jwks"
DOCUMENTS = (CONFIGURATION, KEYS)
LONGEST_BUCKET = 63
# Of the storage account on Azure, which holds nothing else.
CONTAINER = "issuer"


def bucket(fleet: Fleet, cluster: str) -> str:
    """Unique in the world, because account numbers are. On Azure a storage account, of which that is all."""
    region = fleet.clusters[cluster].region
    if in_azure(fleet, region):
        return unique(fleet, region, f"issuer/{cluster}")
    assert fleet.aws is not None
    end = f"{region}-{fleet.aws.account_id}"
    return f"{fitting(f'{fleet.fleet}-{cluster}-issuer', LONGEST_BUCKET - len(end) - 1)}-{end}"


def url(fleet: Fleet, cluster: str) -> str:
    if in_azure(fleet, fleet.clusters[cluster].region):
        return f"https://{bucket(fleet, cluster)}.blob.core.windows.net/{CONTAINER}"
    return f"https://{bucket(fleet, cluster)}.s3.{fleet.clusters[cluster].region}.amazonaws.com"


def provider_arn(fleet: Fleet, cluster: str) -> str:
    """IAM's trust in the issuer, by which roles name it."""
    assert fleet.aws is not None
    return f"arn:aws:iam::{fleet.aws.account_id}:oidc-provider/{url(fleet, cluster).removeprefix('https://')}"


def public(fleet: Fleet, cluster: str) -> list[str]:
    """ARNs of all that everybody may read, and nothing else in the fleet."""
    return [f"arn:aws:s3:::{bucket(fleet, cluster)}/{name}" for name in DOCUMENTS]

"""Explicit providers of the clouds. Each works in the fleet's own account or subscription alone.

A cloud's SDK is imported where the fleet has that cloud: some are large, and not installed everywhere.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fleet.model import Cloud, Fleet

if TYPE_CHECKING:
    import pulumi_aws
    import pulumi_azure_native

# What resources call a cloud's provider.
NAMES: Mapping[Cloud, str] = {"aws": "aws", "azure": "azure-native"}


def aws(fleet: Fleet, region: str) -> "pulumi_aws.Provider":
    """Named like its region."""
    import pulumi_aws

    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    return pulumi_aws.Provider(region, region=region, allowed_account_ids=[fleet.aws.account_id])


def azure(fleet: Fleet, region: str | None = None) -> "pulumi_azure_native.Provider":
    """Named like its region; without one `azure`, for what names its place itself."""
    import pulumi_azure_native

    assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    return pulumi_azure_native.Provider(
        region or "azure",
        location=region,
        subscription_id=fleet.azure.subscription_id,
        tenant_id=fleet.azure.tenant_id,
    )


def of(fleet: Fleet, region: str) -> Any:
    """That of the region's cloud."""
    return MAKERS[fleet.regions[region].cloud](fleet, region)


MAKERS: Mapping[Cloud, Callable[[Fleet, str], Any]] = {"aws": aws, "azure": azure}

"""What the stacks of all pools read and call with, wherever their machines are."""

from typing import Any, NamedTuple

import pulumi
import pulumi_tls as tls

from components.pools.spec import PoolSpec, pool_spec
from components.storage.mounts import nfs
from components.tags import Owner
from fleet.world import World

from ..cluster import versions
from ..outputs import ClusterOutputs, RegionOutputs, cluster_outputs, region_outputs
from ..region.shares import after, file_system


class Given(NamedTuple):
    """`here` is the region that the stack stands in; `providers` are that region's cloud's and tls."""

    here: RegionOutputs
    cluster: ClusterOutputs
    owner: Owner
    providers: dict[str, Any]


async def given(world: World, region: str, spec: PoolSpec) -> Given:
    """Raises RunError where another stack's outputs are missing, or the cluster's API has yet to take its version."""
    fleet = world.fleet
    try:
        here, cluster = await region_outputs(region), await cluster_outputs(spec.cluster)
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    cloud = fleet.regions[region].cloud
    providers = {PROVIDERS[cloud]: provider(world, region), "tls": tls.Provider("tls")}
    if spec.kind != "ssh":  # no kubelet is on those
        home = fleet.clusters[spec.cluster].region
        # Who looks at the cluster's machines speaks to their cloud.
        theirs = providers.get(PROVIDERS[fleet.regions[home].cloud]) or provider(world, home)
        await versions.check_follows(world, spec.name, spec.cluster, theirs)
    return Given(here, cluster, Owner(fleet.fleet, spec.owner, spec.name), providers)


PROVIDERS = {"aws": "aws", "azure": "azure-native"}


def provider(world: World, region: str) -> Any:
    """Of a region's cloud, for that region."""
    fleet = world.fleet
    if fleet.regions[region].cloud == "azure":
        assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
        import pulumi_azure_native as azure

        theirs = {"subscription_id": fleet.azure.subscription_id, "tenant_id": fleet.azure.tenant_id}
        return azure.Provider(region, location=region, **theirs)
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    import pulumi_aws as aws

    return aws.Provider(region, region=region, allowed_account_ids=[fleet.aws.account_id])


async def mounting(world: World, spec: PoolSpec, authority: pulumi.Input[str]) -> tuple[PoolSpec, pulumi.Input[str]]:
    """The pool with its mounts. While EFS is not there the bundle is unknown, as its authority is then."""
    if spec.kind != "ssh" or not world.fleet.storage.shares or nfs(world.fleet, spec.cluster):
        return spec, authority
    try:
        files = await file_system(world, world.fleet.clusters[spec.cluster].region)
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    return pool_spec(world.fleet, world.plan, spec.name, files), after(files, authority)

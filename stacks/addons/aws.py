"""AWS's part in a cluster's add-ons: the credential of a cluster that is at home there, and roles of its pods."""

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from pulumi import ResourceOptions

from components.addons.addons import wanted
from components.addons.autoscaler import ADDON as AUTOSCALER
from components.addons.aws import fleet_metrics_role, joining_role, recorder_role
from components.addons.aws.addons import (
    AutoscalerRole,
    FleetMetricsRole,
    IssuerTrust,
    JoiningRole,
    RecorderRole,
    RolesArgs,
    TeamRoles,
)
from components.addons.spec import AddOnsSpec
from fleet import autoscaler, team_storage
from fleet.buckets import in_azure
from fleet.world import World

from .. import providers
from ..catalogue import StackSpec, cluster_of
from ..cluster import versions
from ..outputs import ClusterOutputs


def provider(world: World, stack: StackSpec) -> aws.Provider:
    """Roles are of no region: a cluster that is at home elsewhere makes its own in the fleet's first of AWS."""
    fleet = world.fleet
    region = team_storage.regions(fleet)[0] if in_azure(fleet, stack.region) else stack.region
    return providers.aws(fleet, region)


async def credential(world: World, stack: StackSpec, plane: ClusterOutputs, cloud: aws.Provider) -> pulumi.Output[str]:
    """Of the cluster's administrator: JSON with `crt` and `key`. Raises RunError while its API servers are behind."""
    await versions.check_follows(world, stack.name, cluster_of(stack.name), cloud)
    secret = aws.secretsmanager.get_secret_version_output(
        secret_id=plane["admin_secret"], opts=pulumi.InvokeOutputOptions(provider=cloud)
    )
    text: pulumi.Output[str] = secret.secret_string
    return text


def pods(world: World, stack: StackSpec, spec: AddOnsSpec, cloud: aws.Provider, _: kubernetes.Provider) -> None:
    """Roles of teams' pods, and of add-ons': the autoscaler's where the cluster scales there, and those it has."""
    cluster = cluster_of(stack.name)
    args: RolesArgs = {"fleet": world.fleet, "cluster": cluster}
    opts = ResourceOptions(providers=[cloud])
    if in_azure(world.fleet, stack.region):
        IssuerTrust("issuer", args, opts)
    TeamRoles("team-roles", args, opts)
    if AUTOSCALER in wanted(spec) and autoscaler.regions(world.fleet, cluster, "aws"):
        AutoscalerRole("autoscaler", args, opts)
    if joining_role.wanted(world.fleet, cluster):
        JoiningRole("joining", args, opts)
    if recorder_role.wanted(world.fleet, cluster):
        RecorderRole("recorder", args, opts)
    if world.fleet.monitoring is not None and fleet_metrics_role.wanted(world.fleet, cluster):
        FleetMetricsRole("fleet-metrics", args, opts)

"""Azure's part in a cluster's add-ons: the credential of a cluster at home there, and identities of its pods."""

import pulumi
import pulumi_azure_native as azure
import pulumi_kubernetes as kubernetes
from pulumi import ResourceOptions

from components.addons.addons import wanted
from components.addons.autoscaler import ADDON as AUTOSCALER
from components.addons.azure import fleet_metrics_role, joining_role, recorder_role
from components.addons.azure import team_pods as azure_team_pods
from components.addons.azure.addons import (
    AutoscalerIdentity,
    FleetMetricsIdentity,
    RecorderIdentity,
    TeamIdentities,
)
from components.addons.azure.pod_role import CLIENT_ID, identity
from components.addons.manifests import config_map
from components.addons.monitoring.fleet_metrics import ADDON as FLEET_METRICS
from components.addons.recorder import ADDON as RECORDER
from components.addons.spec import AddOnsSpec
from components.storage.azure.secrets import secret
from fleet import autoscaler as scaling
from fleet.buckets import in_azure, vault_name
from fleet.team_storage import namespace
from fleet.world import World

from .. import providers
from ..catalogue import StackSpec, cluster_of
from ..cluster import versions
from ..outputs import ClusterOutputs
from .joining import joining


def provider(world: World, _: StackSpec) -> azure.Provider:
    """Identities and roles name their places themselves."""
    return providers.azure(world.fleet)


async def credential(
    world: World, stack: StackSpec, plane: ClusterOutputs, cloud: azure.Provider
) -> pulumi.Output[str]:
    """Of the cluster's administrator, out of the vault of its region: JSON with `crt` and `key`.

    Raises RunError while its API servers are behind.
    """
    await versions.check_follows(world, stack.name, cluster_of(stack.name), cloud)
    return secret(vault_name(world.fleet, stack.region), plane["admin_secret"], cloud)


def pods(world: World, stack: StackSpec, spec: AddOnsSpec, cloud: azure.Provider, inside: kubernetes.Provider) -> None:
    """Identities of teams' pods and of add-ons', each where the cluster has it."""
    fleet, cluster, having = world.fleet, cluster_of(stack.name), wanted(spec)
    if in_azure(fleet, stack.region) or spec.azure_regions:
        teams(world, cluster, cloud, inside)
    if joining_role.regions(fleet, cluster):
        joining(world, cluster, cloud, inside)
    if AUTOSCALER in having and scaling.regions(fleet, cluster, "azure"):
        autoscaler(world, cluster, cloud, inside)
    if recorder_role.wanted(fleet, cluster):
        recorder(world, cluster, cloud, inside)
    if FLEET_METRICS in having and fleet_metrics_role.wanted(fleet, cluster):
        fleet_metrics(world, cluster, cloud, inside)


def teams(world: World, cluster: str, cloud: azure.Provider, inside: kubernetes.Provider) -> None:
    """Identities of teams' pods, and in each team's namespace what its pods name theirs by."""
    options = ResourceOptions(providers={"azure-native": cloud})
    made = TeamIdentities("team-identities", {"fleet": world.fleet, "cluster": cluster}, options)
    for team, client_id in made.client_ids.items():
        about = config_map(azure_team_pods.IDENTITY, azure_team_pods.ADDON, {})
        kubernetes.core.v1.ConfigMap(
            f"{azure_team_pods.IDENTITY}-{team}",
            metadata={**about["metadata"], "namespace": namespace(team)},
            data={azure_team_pods.CLIENT_ID: client_id},
            opts=ResourceOptions(provider=inside),
        )


def autoscaler(world: World, cluster: str, cloud: azure.Provider, inside: kubernetes.Provider) -> None:
    """Its identity, and in the cluster what its pod names it by."""
    options = ResourceOptions(providers={"azure-native": cloud})
    made = AutoscalerIdentity("autoscaler-azure", {"fleet": world.fleet, "cluster": cluster}, options)
    _named(AUTOSCALER, made.client_id, inside)


def recorder(world: World, cluster: str, cloud: azure.Provider, inside: kubernetes.Provider) -> None:
    """Its identity, and in the cluster what its pod names it by."""
    options = ResourceOptions(providers={"azure-native": cloud})
    made = RecorderIdentity("recorder-azure", {"fleet": world.fleet, "cluster": cluster}, options)
    _named(RECORDER, made.client_id, inside)


def fleet_metrics(world: World, cluster: str, cloud: azure.Provider, inside: kubernetes.Provider) -> None:
    """Its identity, and in the cluster what its pod names it by."""
    options = ResourceOptions(providers={"azure-native": cloud})
    made = FleetMetricsIdentity("fleet-metrics-azure", {"fleet": world.fleet, "cluster": cluster}, options)
    _named(FLEET_METRICS, made.client_id, inside)


def _named(addon: str, client_id: pulumi.Output[str], inside: kubernetes.Provider) -> None:
    """In the cluster: what the add-on's pod names its identity by."""
    about = config_map(identity(addon), addon, {})
    kubernetes.core.v1.ConfigMap(
        identity(addon),
        metadata=about["metadata"],
        data={CLIENT_ID: client_id},
        opts=ResourceOptions(provider=inside),
    )

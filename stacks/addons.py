"""What runs inside a cluster: its add-ons, registered with its own API server."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_azure_native as azure
import pulumi_kubernetes as kubernetes
from pulumi import ResourceOptions

from components.addons.addons import wanted
from components.addons.autoscaler import ADDON as AUTOSCALER
from components.addons.aws import AutoscalerRole, TeamRoles
from components.addons.azure import AutoscalerIdentity
from components.addons.azure_autoscaler import CLIENT_ID, IDENTITY
from components.addons.component import AddOns
from components.addons.gpu import ADDON as DEVICE_PLUGIN
from components.addons.manifests import SPACE, config_map
from components.addons.spec import AddOnsSpec, addons_spec
from components.control_plane.kubeconfig import kubeconfig
from components.storage.mounts import FileSystem
from fleet import autoscaler
from fleet.world import World

from . import versions
from .catalogue import StackSpec, cluster_of
from .outputs import cluster_outputs, publish
from .shares import file_system


def program(world: World, stack: StackSpec) -> None:
    """Registers the add-ons of the cluster that the stack is named after, and publishes `AddOnsOutputs`."""
    pulumi.run(lambda: _program(world, stack))


async def _program(world: World, stack: StackSpec) -> None:
    fleet, name = world.fleet, cluster_of(stack.name)
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    try:
        plane = await cluster_outputs(name)
        spec = addons_spec(fleet, world.plan, name)
        spec = addons_spec(fleet, world.plan, name, await _file_systems(world, spec))
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    cloud = aws.Provider(stack.region, region=stack.region, allowed_account_ids=[fleet.aws.account_id])
    await versions.check_follows(world, stack.name, name, cloud)
    secret = aws.secretsmanager.get_secret_version_output(
        secret_id=plane["admin_secret"], opts=pulumi.InvokeOutputOptions(provider=cloud)
    )
    known = pulumi.Output.all(plane["endpoint"], plane["authority"], secret.secret_string)
    access: Any = known.apply(lambda found: access_of(*found))
    provider = kubernetes.Provider(
        name,
        kubeconfig=pulumi.Output.secret(access),
        # Else a changed ConfigMap is another one, and for a moment there is none.
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
    )
    TeamRoles("team-roles", {"fleet": fleet, "cluster": name}, ResourceOptions(providers=[cloud]))
    having = wanted(spec)
    if AUTOSCALER in having:
        AutoscalerRole("autoscaler", {"fleet": fleet, "cluster": name}, ResourceOptions(providers=[cloud]))
        if autoscaler.regions(fleet, name, "azure"):
            _autoscaler_in_azure(world, name, provider)
    try:
        AddOns("add-ons", {"spec": spec}, ResourceOptions(providers=[provider]))
    except ValueError as error:  # settings that no ConfigMap holds
        raise pulumi.RunError(str(error)) from None
    publish(
        {
            "kubernetes": spec.cluster.kubernetes,
            "add_ons": list(having),
            "device_plugin": f"{SPACE}/{DEVICE_PLUGIN}" if DEVICE_PLUGIN in having else "",
            "autoscaler": f"{SPACE}/{AUTOSCALER}" if AUTOSCALER in having else "",
            "sites": list(spec.sites),
            "regions": list(spec.regions),
        }
    )


def _autoscaler_in_azure(world: World, cluster: str, provider: kubernetes.Provider) -> None:
    """Its identity, and in the cluster what its pod names it by."""
    fleet = world.fleet
    assert fleet.azure is not None  # fleet.rules: no region in Azure without a subscription
    cloud = azure.Provider("azure", subscription_id=fleet.azure.subscription_id, tenant_id=fleet.azure.tenant_id)
    providers = ResourceOptions(providers={"azure-native": cloud})
    made = AutoscalerIdentity("autoscaler-azure", {"fleet": fleet, "cluster": cluster}, providers)
    about = config_map(IDENTITY, AUTOSCALER, {})
    kubernetes.core.v1.ConfigMap(
        IDENTITY,
        metadata=about["metadata"],
        data={CLIENT_ID: made.client_id},
        opts=ResourceOptions(provider=provider),
    )


async def _file_systems(world: World, spec: AddOnsSpec) -> Mapping[str, FileSystem]:
    """EFS of every AWS region that the cluster has nodes in, and of its own."""
    return {region: await file_system(world, region) for region in sorted({*spec.aws_regions, spec.cluster.region})}


def access_of(endpoint: str, authority: str, credential: str) -> str:
    """`credential` is JSON with `crt` and `key`, as the cluster's stack keeps it in a secret."""
    pair = json.loads(credential)
    return kubeconfig("cluster", "admin", {"server": endpoint}, authority, pair["crt"], pair["key"])

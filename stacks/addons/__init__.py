"""What runs inside a cluster: its add-ons, registered with its own API server.

What they need of clouds stands in aws.py and azure.py: the cluster's home gives the way in, and each
cloud with nodes of it what its pods may do there.
"""

import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.addons.addons import wanted
from components.addons.autoscaler import ADDON as AUTOSCALER
from components.addons.azure import fleet_metrics_role as azure_fleet_metrics_role
from components.addons.azure import joining_role as azure_joining_role
from components.addons.azure import recorder_role as azure_recorder_role
from components.addons.component import AddOns
from components.addons.gpu import ADDON as DEVICE_PLUGIN
from components.addons.manifests import SPACE
from components.addons.monitoring.fleet_metrics import ADDON as FLEET_METRICS
from components.addons.spec import AddOnsSpec, addons_spec
from components.control_plane.kubeconfig import kubeconfig
from components.storage.mounts import RegionFiles
from fleet import autoscaler, team_storage
from fleet.buckets import in_azure
from fleet.world import World

from ..catalogue import StackSpec, cluster_of
from ..outputs import AddOnsOutputs, cluster_outputs, publishing
from ..region.shares import file_system
from . import aws as addons_aws
from . import azure as addons_azure
from .joining import joining


def program(world: World, stack: StackSpec) -> None:
    """Registers the add-ons of the cluster that the stack is named after, and publishes `AddOnsOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> AddOnsOutputs:
    """Registers them, and gives what is published. Raises RunError while its API servers are behind."""
    fleet, name = world.fleet, cluster_of(stack.name)
    try:
        plane = await cluster_outputs(name)
        spec = addons_spec(fleet, world.plan, name)
        spec = addons_spec(fleet, world.plan, name, await _file_systems(world, spec))
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    aws = addons_aws.provider(world, stack) if team_storage.regions(fleet) else None
    in_it = in_azure(fleet, stack.region) or bool(spec.azure_regions)
    azure = addons_azure.provider(world) if in_it or azure_joining_role.regions(fleet, name) else None
    if in_azure(fleet, stack.region):
        assert azure is not None
        secret = await addons_azure.credential(world, stack, plane, azure)
    else:
        assert aws is not None
        secret = await addons_aws.credential(world, stack, plane, aws)
    known = pulumi.Output.all(plane["endpoint"], plane["authority"], secret)
    access: Any = known.apply(lambda found: access_of(*found))
    provider = kubernetes.Provider(
        name,
        kubeconfig=pulumi.Output.secret(access),
        # Else a changed ConfigMap is another one, and for a moment there is none.
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
    )
    having = wanted(spec)
    if aws:
        scales = AUTOSCALER in having and bool(autoscaler.regions(fleet, name, "aws"))
        addons_aws.roles(world, stack, name, aws, scales=scales)
    if azure and in_it:
        addons_azure.teams(world, name, azure, provider)
    if azure and azure_joining_role.regions(fleet, name):
        joining(world, name, azure, provider)
    if azure and AUTOSCALER in having and autoscaler.regions(fleet, name, "azure"):
        addons_azure.autoscaler(world, name, azure, provider)
    if azure and azure_recorder_role.wanted(fleet, name):
        addons_azure.recorder(world, name, azure, provider)
    if azure and FLEET_METRICS in having and azure_fleet_metrics_role.wanted(fleet, name):
        addons_azure.fleet_metrics(world, name, azure, provider)
    try:
        AddOns("add-ons", {"spec": spec}, pulumi.ResourceOptions(providers=[provider]))
    except ValueError as error:  # settings that no ConfigMap holds
        raise pulumi.RunError(str(error)) from None
    return {
        "kubernetes": spec.cluster.kubernetes,
        "add_ons": list(having),
        "device_plugin": f"{SPACE}/{DEVICE_PLUGIN}" if DEVICE_PLUGIN in having else "",
        "autoscaler": f"{SPACE}/{AUTOSCALER}" if AUTOSCALER in having else "",
        "sites": list(spec.sites),
        "regions": list(spec.regions),
    }


async def _file_systems(world: World, spec: AddOnsSpec) -> Mapping[str, RegionFiles]:
    """The shares of every region that the cluster has nodes in, and of its own."""
    return {region: await file_system(world, region) for region in sorted({*spec.regions, spec.cluster.region})}


def access_of(endpoint: str, authority: str, credential: str) -> str:
    """`credential` is JSON with `crt` and `key`, as the cluster's stack keeps it in a secret."""
    pair = json.loads(credential)
    return kubeconfig("cluster", "admin", {"server": endpoint}, authority, pair["crt"], pair["key"])

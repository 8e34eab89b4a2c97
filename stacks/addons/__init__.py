"""What runs inside a cluster: its add-ons, registered with its own API server.

What they need of clouds stands in aws.py and azure.py: the cluster's home gives the way in, and each
cloud with nodes of it what its pods may do there.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.addons.addons import wanted
from components.addons.autoscaler import ADDON as AUTOSCALER
from components.addons.azure import joining_role as azure_joining_role
from components.addons.component import AddOns
from components.addons.gpu import ADDON as DEVICE_PLUGIN
from components.addons.manifests import SPACE
from components.addons.spec import AddOnsSpec, addons_spec
from components.control_plane.kubeconfig import kubeconfig
from components.storage.mounts import RegionFiles
from fleet import team_storage
from fleet.buckets import in_azure
from fleet.model import Cloud
from fleet.world import World

from ..catalogue import StackSpec, cluster_of
from ..outputs import AddOnsOutputs, cluster_outputs, publishing
from ..region.shares import file_system
from . import own_alarms


def program(world: World, stack: StackSpec) -> None:
    """Registers the add-ons of the cluster that the stack is named after, and publishes `AddOnsOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> AddOnsOutputs:
    """Registers them, and gives what is published. Raises RunError while its API servers are behind, and for
    alarms that are none.
    """
    fleet, name = world.fleet, cluster_of(stack.name)
    own_alarms.check(world)
    plane = await cluster_outputs(name)
    spec = addons_spec(fleet, world.plan, name)
    spec = addons_spec(fleet, world.plan, name, await _file_systems(world, spec))
    parts = {cloud: import_module(f".{cloud}", __package__) for cloud in _clouds(world, stack, spec)}
    clouds = {cloud: part.provider(world, stack) for cloud, part in parts.items()}
    home = fleet.regions[stack.region].cloud
    secret = await parts[home].credential(world, stack, plane, clouds[home])
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
    for cloud, part in parts.items():
        part.pods(world, stack, spec, clouds[cloud], provider)
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


def _clouds(world: World, stack: StackSpec, spec: AddOnsSpec) -> list[Cloud]:
    """Those that its pods may do something in, its home's among them."""
    fleet, of = world.fleet, list[Cloud]()
    if team_storage.regions(fleet):
        of.append("aws")
    if in_azure(fleet, stack.region) or spec.azure_regions or azure_joining_role.regions(fleet, cluster_of(stack.name)):
        of.append("azure")
    return of


async def _file_systems(world: World, spec: AddOnsSpec) -> Mapping[str, RegionFiles]:
    """The shares of every region that the cluster has nodes in, and of its own."""
    return {region: await file_system(world, region) for region in sorted({*spec.regions, spec.cluster.region})}


def access_of(endpoint: str, authority: str, credential: str) -> str:
    """`credential` is JSON with `crt` and `key`, as the cluster's stack keeps it in a secret."""
    pair = json.loads(credential)
    return kubeconfig("cluster", "admin", {"server": endpoint}, authority, pair["crt"], pair["key"])

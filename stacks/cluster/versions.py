"""Steps to another minor version of Kubernetes: who takes it first. Machines are looked up in such a step alone."""

import re
from collections.abc import Mapping

import pulumi

from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.names import machine_name
from components.tags import KUBERNETES, Owner
from fleet import kubernetes_versions
from fleet.buckets import resource_group
from fleet.kubernetes_versions import back, minor, steps
from fleet.world import World

from ..outputs import last_published

PUBLISHED = "kubernetes"
# How a look-up in Azure says that there is nothing.
ABSENT = re.compile(r"not ?found|there is no", re.IGNORECASE)


async def check_own_step(
    world: World, spec: ClusterSpec, published: str | None, provider: pulumi.ProviderResource
) -> None:
    """For a cluster's stack. Raises RunError where machines have yet to take the last minor version, and where API
    servers have taken one that it is to go back from.
    """
    if published is None or not steps(published, spec.kubernetes):
        return
    if back(published, spec.kubernetes) and await _servers_without(world, spec, spec.kubernetes, provider):
        why = kubernetes_versions.refusal(published, spec.kubernetes)
        raise pulumi.RunError(f"{world.path.name}: cluster {spec.name}: {why}")
    behind = await _without(world, spec, {minor(published), minor(spec.kubernetes)}, provider)
    if why := kubernetes_versions.behind_refusal(spec.name, published, spec.kubernetes, behind):
        raise pulumi.RunError(f"{world.path.name}: cluster {spec.name}: {why}")


async def check_follows(world: World, stack: str, cluster: str, provider: pulumi.ProviderResource) -> None:
    """For what runs on a cluster. Raises RunError where its API servers have yet to take the minor version."""
    published, wanted = await last_published(stack, PUBLISHED), world.fleet.clusters[cluster].kubernetes
    if published is not None and not steps(published, wanted):
        return
    spec = cluster_spec(world.fleet, world.plan, cluster)
    servers = await _servers_without(world, spec, wanted, provider)
    if why := kubernetes_versions.ahead_refusal(stack, cluster, wanted, servers):
        raise pulumi.RunError(f"{world.path.name}: {why}")


async def _servers_without(
    world: World, spec: ClusterSpec, version: str, provider: pulumi.ProviderResource
) -> list[str]:
    """API servers that stand and have another minor version."""
    behind = await _without(world, spec, {minor(version)}, provider)
    return [machine.name for machine in spec.machines if machine.role == "api" and machine.name in behind]


async def _without(world: World, spec: ClusterSpec, minors: set[str], provider: pulumi.ProviderResource) -> list[str]:
    """Names of the cluster's machines that stand and have none of these versions."""
    if spec.cloud == "azure":
        runs = {machine.name: await _of_azure(world, spec, machine.name, provider) for machine in spec.machines}
        return [name for name, version in runs.items() if version and minor(version) not in minors]
    all_ = await _addresses(spec, provider)
    fit = await _addresses(spec, provider, {KUBERNETES: [f"{one}.*" for one in sorted(minors)]})
    return [machine.name for machine in spec.machines if machine.address in all_ - fit]


async def _of_azure(world: World, spec: ClusterSpec, machine: str, provider: pulumi.ProviderResource) -> str:
    """The version that a virtual machine was made with; empty where it is not there."""
    name = machine_name(Owner(spec.fleet, world.fleet.owner, spec.name), spec, machine)
    at = {"resourceGroupName": resource_group(world.fleet, spec.region), "vmName": name}
    try:
        found = await pulumi.runtime.invoke_async(
            "azure-native:compute:getVirtualMachine", at, pulumi.InvokeOptions(provider=provider)
        )
    except Exception as error:  # Pulumi raises nothing narrower
        if ABSENT.search(str(error)):
            return ""
        raise
    return str(((found or {}).get("tags") or {}).get(KUBERNETES, ""))


async def _addresses(
    spec: ClusterSpec, provider: pulumi.ProviderResource, more: Mapping[str, list[str]] | None = None
) -> set[str]:
    """Of the cluster's instances, those that have one of the values of each tag in `more`, too."""
    import pulumi_aws as aws

    tags = {"landbridge:fleet": [spec.fleet], "landbridge:cluster": [spec.name], **(more or {})}
    # Of its own machines alone: what pools buy changes nothing here, and is no reason to run a stack again.
    own = {"name": "private-ip-address", "values": [machine.address for machine in spec.machines]}
    found = await aws.ec2.get_instances_output(
        region=spec.region,  # not that of who asks
        filters=[own, *({"name": f"tag:{tag}", "values": values} for tag, values in tags.items())],
        instance_state_names=["pending", "running"],
        opts=pulumi.InvokeOutputOptions(provider=provider),
    ).future()
    return set(found.private_ips) if found else set()

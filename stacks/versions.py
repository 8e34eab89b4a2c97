"""Steps to another minor version of Kubernetes: who takes it first. Machines are looked up in such a step alone."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.control_plane.machines import ClusterSpec, cluster_spec
from components.tags import KUBERNETES
from fleet import kubernetes_versions
from fleet.kubernetes_versions import minor, steps
from fleet.world import World

from .outputs import last_published

PUBLISHED = "kubernetes"


async def check_own_step(world: World, spec: ClusterSpec, published: str | None, provider: aws.Provider) -> None:
    """For a cluster's stack. Raises RunError where machines have yet to take the last minor version."""
    if published is None or not steps(published, spec.kubernetes):
        return
    behind = await _without(spec, {minor(published), minor(spec.kubernetes)}, provider)
    if why := kubernetes_versions.behind_refusal(spec.name, published, spec.kubernetes, behind):
        raise pulumi.RunError(f"{world.path.name}: cluster {spec.name}: {why}")


async def check_follows(world: World, stack: str, cluster: str, provider: aws.Provider) -> None:
    """For what runs on a cluster. Raises RunError where its API servers have yet to take the minor version."""
    published, wanted = await last_published(stack, PUBLISHED), world.fleet.clusters[cluster].kubernetes
    if published is not None and not steps(published, wanted):
        return
    spec = cluster_spec(world.fleet, world.plan, cluster)
    behind = await _without(spec, {minor(wanted)}, provider)
    servers = [machine.name for machine in spec.machines if machine.role == "api" and machine.name in behind]
    if why := kubernetes_versions.ahead_refusal(stack, cluster, wanted, servers):
        raise pulumi.RunError(f"{world.path.name}: {why}")


async def _without(spec: ClusterSpec, minors: set[str], provider: aws.Provider) -> list[str]:
    """Names of the cluster's machines that stand and have none of these versions."""
    all_ = await _addresses(spec, provider)
    fit = await _addresses(spec, provider, {KUBERNETES: [f"{one}.*" for one in sorted(minors)]})
    return [machine.name for machine in spec.machines if machine.address in all_ - fit]


async def _addresses(
    spec: ClusterSpec, provider: aws.Provider, more: Mapping[str, list[str]] | None = None
) -> set[str]:
    """Of the cluster's instances, those that have one of the values of each tag in `more`, too."""
    tags = {"landbridge:fleet": [spec.fleet], "landbridge:cluster": [spec.name], **(more or {})}
    found = await aws.ec2.get_instances_output(
        region=spec.region,  # not that of who asks
        filters=[{"name": f"tag:{tag}", "values": values} for tag, values in tags.items()],
        instance_state_names=["pending", "running"],
        opts=pulumi.InvokeOutputOptions(provider=provider),
    ).future()
    return set(found.private_ips) if found else set()

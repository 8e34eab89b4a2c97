"""What runs inside a cluster: its add-ons, registered with its own API server."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
from pulumi import ResourceOptions

from components.addons.addons import wanted
from components.addons.component import AddOns
from components.addons.gpu import ADDON as DEVICE_PLUGIN
from components.addons.manifests import SPACE
from components.addons.spec import AddOnsSpec, Handles, addons_spec
from components.control_plane.kubeconfig import kubeconfig
from fleet.world import World

from .catalogue import StackSpec, cluster_of
from .outputs import cluster_outputs, publish, region_outputs


def program(world: World, stack: StackSpec) -> None:
    """Registers the add-ons of the cluster that the stack is named after, and publishes `AddOnsOutputs`."""
    pulumi.run(lambda: _program(world, stack))


async def _program(world: World, stack: StackSpec) -> None:
    fleet, name = world.fleet, cluster_of(stack.name)
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    try:
        plane = await cluster_outputs(name)
        spec = addons_spec(fleet, world.plan, name)
        spec = addons_spec(fleet, world.plan, name, await _file_systems(spec))
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    cloud = aws.Provider(stack.region, region=stack.region, allowed_account_ids=[fleet.aws.account_id])
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
    AddOns("add-ons", {"spec": spec}, ResourceOptions(providers=[provider]))
    publish(
        {
            "add_ons": list(wanted(spec)),
            "device_plugin": f"{SPACE}/{DEVICE_PLUGIN}" if DEVICE_PLUGIN in wanted(spec) else "",
            "sites": list(spec.sites),
            "regions": list(spec.regions),
        }
    )


async def _file_systems(spec: AddOnsSpec) -> Mapping[str, Handles]:
    """EFS of every AWS region that the cluster has nodes in, and of its own."""
    found: dict[str, dict[str, Any]] = {}
    for region in sorted({*spec.aws_regions, spec.cluster.region}):
        outputs = await region_outputs(region)
        found[region] = {
            share: pulumi.Output.concat(outputs["shares_id"], "::", outputs["share_ids"][share])
            for share in spec.fleet.storage.shares
        }
    return found


def access_of(endpoint: str, authority: str, credential: str) -> str:
    """`credential` is JSON with `crt` and `key`, as the cluster's stack keeps it in a secret."""
    pair = json.loads(credential)
    return kubeconfig("cluster", "admin", {"server": endpoint}, authority, pair["crt"], pair["key"])

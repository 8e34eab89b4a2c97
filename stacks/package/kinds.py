"""The package's components, one for each kind of stack. What arguments and outputs are, described.py tells."""

from typing import Any, NotRequired, TypedDict

import pulumi

from .. import addons, cluster, links, pool, region
from ..catalogue import ADDONS, LINKS
from ..outputs import AddOnsOutputs, ClusterOutputs, LinksOutputs, PoolOutputs, RegionOutputs, SitePoolOutputs
from .component import Component, Given, Stacks


class FleetArgs(TypedDict):
    fleet: str


class OnOthersArgs(FleetArgs):
    stacks: NotRequired[Stacks]


class RegionArgs(FleetArgs):
    region: str


class Region(Component, contracts=[RegionOutputs]):
    """A region: its network with hub and private names, the fleet bucket, the shares."""

    cloud: pulumi.Output[str]
    network_id: pulumi.Output[str]
    network_cidr: pulumi.Output[str]
    private_subnet_ids: pulumi.Output[dict[str, str]]
    public_subnet_ids: pulumi.Output[dict[str, str]]
    route_table_ids: pulumi.Output[dict[str, str]]
    hub_id: pulumi.Output[str]
    zone_id: pulumi.Output[str]
    zone_name: pulumi.Output[str]
    bucket: pulumi.Output[str]
    shares_id: pulumi.Output[str]

    def __init__(self, name: str, args: RegionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, Given(args["fleet"], {}, "region", args["region"], region.build), opts)


class LinksArgs(OnOthersArgs):
    pass


class Links(Component, contracts=[LinksOutputs], on="every region"):
    """What joins a fleet's regions with each other and with its sites."""

    regions: pulumi.Output[list[str]]
    connections: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, args: LinksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, Given(args["fleet"], args.get("stacks", {}), "links", LINKS, links.build), opts)


class ClusterArgs(OnOthersArgs):
    cluster: str


class Cluster(Component, contracts=[ClusterOutputs], on="its home region, and that of its copies"):
    """A cluster's control plane: keys, etcd, API servers, their balancer, backups."""

    region: pulumi.Output[str]
    kubernetes: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    authority: pulumi.Output[str]
    admin_secret: pulumi.Output[str]
    issuer: pulumi.Output[str]
    pods_cidr: pulumi.Output[str]
    services_cidr: pulumi.Output[str]
    machines: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = Given(args["fleet"], args.get("stacks", {}), "cluster", args["cluster"], cluster.build)
        super().__init__(name, given, opts)


class PoolArgs(OnOthersArgs):
    pool: str


class Pool(Component, contracts=[PoolOutputs, SitePoolOutputs], on="its region, its cluster, and that cluster's home"):
    """Machines of one kind that a cluster has in one region or at one site."""

    cluster: pulumi.Output[str]
    kind: pulumi.Output[str]
    bucket: pulumi.Output[str]
    prefix: pulumi.Output[str]
    groups: pulumi.Output[dict[str, str] | None]
    hosts: pulumi.Output[list[str] | None]

    def __init__(self, name: str, args: PoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, Given(args["fleet"], args.get("stacks", {}), "pool", args["pool"], pool.build), opts)


class AddOnsArgs(OnOthersArgs):
    cluster: str


class AddOns(Component, contracts=[AddOnsOutputs], on="the cluster, the regions of its nodes, and its pools in Azure"):
    """What runs inside a cluster: network, names, drivers, the autoscaler, monitoring."""

    kubernetes: pulumi.Output[str]
    add_ons: pulumi.Output[list[str]]
    device_plugin: pulumi.Output[str]
    autoscaler: pulumi.Output[str]
    sites: pulumi.Output[list[str]]
    regions: pulumi.Output[list[str]]

    def __init__(self, name: str, args: AddOnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        stack = f"{args['cluster']}{ADDONS}"
        super().__init__(name, Given(args["fleet"], args.get("stacks", {}), "addons", stack, addons.build), opts)


COMPONENTS: list[type[Component]] = [Region, Links, Cluster, Pool, AddOns]

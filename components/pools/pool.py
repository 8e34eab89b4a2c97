"""What a pool in a region is on every cloud: whose it is, and what its machines show and fetch."""

from typing import TypedDict

import pulumi

from components.boot import hosts
from components.boot.hosts import host_authority
from components.tags import Owner
from fleet.logins import pools_host
from fleet.model import Fleet

from .firewall import Rule
from .names import Names
from .publishing import Publishing
from .spec import PoolSpec


class AnyPoolArgs(TypedDict):
    """`subnet_ids` are those of the region's private subnets by zone. `authority` is the cluster's PEM; `rules` are
    firewall.rules'. `people_authority` is the public line of what signs people's certificates; empty where keys let
    them in.
    """

    fleet: Fleet
    spec: PoolSpec
    owner: Owner
    rules: tuple[Rule, ...]
    subnet_ids: dict[str, pulumi.Input[str]]
    authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]


class AnyPool(pulumi.ComponentResource):
    """`hosts` vouches for machines to people's clients, where certificates let them in.

    Sizes belong to the autoscaler: no `up` changes one, and none ends a machine.
    """

    def __init__(self, name: str, args: AnyPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:pools:Pool", name, None, opts)
        self.fleet, self.spec, self.owner = args["fleet"], args["spec"], args["owner"]
        self.names, self.child = Names(self.fleet), pulumi.ResourceOptions(parent=self)
        self.hosts = host_authority(self.fleet, self.spec.logins, self.child)

    def tags(self, name: str) -> dict[str, str]:
        whose = {"landbridge:cluster": self.spec.cluster, "landbridge:pool": self.spec.name}
        return {**self.owner.tags(name), **whose}

    def publish(self, publishing: Publishing, args: AnyPoolArgs) -> pulumi.Resource:
        """Its bundle; gives the manifest."""
        shown = hosts.shown(self.hosts, self.spec.name, [pools_host(self.fleet, self.spec.place)], self)
        return publishing.publish(args["authority"], args["people_authority"], shown, self.tags)

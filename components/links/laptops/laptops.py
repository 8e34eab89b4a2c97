"""What a region's servers for laptops are on every cloud. What else they need there, each cloud's own class says."""

from typing import TypedDict

import pulumi

from components.boot.hosts import host_authority
from components.tags import Owner
from fleet.model import Fleet

from .laptop_server import AnyLaptopServerArgs
from .spec import LaptopsSpec, Server

RECORD_SECONDS = 60


class AnyLaptopsArgs(TypedDict):
    """`subnet_ids` are those of the region's public subnets by zone.

    `cluster_authority` is PEM: whom servers trust as nodes of their cluster.
    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    """

    fleet: Fleet
    spec: LaptopsSpec
    owner: Owner
    supernet: str
    subnet_ids: dict[str, pulumi.Input[str]]
    cluster_authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]


class AnyLaptops(pulumi.ComponentResource):
    """`hosts` vouches for servers to people's clients."""

    def __init__(self, name: str, args: AnyLaptopsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:Laptops", name, None, opts)
        self.fleet, self.spec, self.owner = args["fleet"], args["spec"], args["owner"]
        self.child = pulumi.ResourceOptions(parent=self)
        self.hosts = host_authority(self.fleet, self.spec.logins, self.child)

    def server_args(self, args: AnyLaptopsArgs, server: Server, group_id: pulumi.Input[str]) -> AnyLaptopServerArgs:
        """What a server is told on every cloud; `group_id` is their security group."""
        return {
            "fleet": self.fleet,
            "spec": self.spec,
            "server": server,
            "owner": self.owner,
            "subnet_id": args["subnet_ids"][server.zone],
            "group_id": group_id,
            "cluster_authority": args["cluster_authority"],
            "people_authority": args["people_authority"],
            "hosts": self.hosts,
        }

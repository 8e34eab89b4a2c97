"""What a server for laptops is on every cloud: whose it is, where it boots from, and what its bundle holds."""

from typing import TypedDict

import pulumi

from components.boot.hosts import HostAuthority
from components.control_plane.publishing import Signed
from components.tags import Owner
from fleet.model import Fleet

from .contents import contents
from .keys import Keys
from .spec import LaptopsSpec, Server


class AnyLaptopServerArgs(TypedDict):
    """`subnet_id` is a public subnet's of the server's zone, `group_id` the security group of all servers.

    `cluster_authority` is PEM: whom the server trusts as a node.
    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    `hosts` vouches for the server to people's clients, where certificates let them in.
    """

    fleet: Fleet
    spec: LaptopsSpec
    server: Server
    owner: Owner
    subnet_id: pulumi.Input[str]
    group_id: pulumi.Input[str]
    cluster_authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]
    hosts: HostAuthority | None


class AnyLaptopServer(pulumi.ComponentResource):
    """`machine_name` is unique in the fleet."""

    def __init__(self, name: str, args: AnyLaptopServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:LaptopServer", name, None, opts)
        self.name, self.fleet, self.owner = name, args["fleet"], args["owner"]
        self.spec, self.server = args["spec"], args["server"]
        self.machine_name, self.prefix = self.spec.machine(self.server), self.spec.prefix(name)
        self.child = pulumi.ResourceOptions(parent=self)
        self.tags = {**self.owner.tags(name), "landbridge:machine": self.machine_name}

    def signed(self, authority: Keys, args: AnyLaptopServerArgs) -> Signed:
        """Its bundle, whose keys and certificates are made as its children."""
        authorities = args["cluster_authority"], args["people_authority"]
        made = contents(self.fleet, self.spec, self.server, authority, authorities, args["hosts"], self)
        return Signed(self.machine_name, self.prefix, made.files, made.keys, authority.signing)

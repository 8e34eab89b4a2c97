"""A region's servers for laptops on Azure, their names, and whom they hear."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.boot.hosts import host_authority
from components.pools import firewall
from components.pools.azure.firewall import ruled, written
from components.tags import Owner
from fleet.buckets import resource_group
from fleet.laptops import PLACE
from fleet.model import Fleet

from .. import ports
from ..spec import LaptopsSpec, Server
from .authority import LaptopsAuthority
from .server import LaptopServer

RECORD_SECONDS = 60


class LaptopsArgs(TypedDict):
    """`subnet_ids` are those of the region's public subnets by zone; `zone_name` is its private zone's.

    `image` is what servers start from, as Azure's `imageReference` has it. `cluster_authority` is PEM: whom servers
    trust as nodes of their cluster. `people_authority` is the public line of what signs people's certificates; empty
    where keys let them in.
    """

    fleet: Fleet
    spec: LaptopsSpec
    owner: Owner
    supernet: str
    subnet_ids: dict[str, pulumi.Input[str]]
    zone_name: str
    image: dict[str, str]
    cluster_authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]


class Laptops(pulumi.ComponentResource):
    """`servers` by name, `authority` with the certificate that vouches for them and for people.

    No route leads to laptops: they come in their server's name (docs/decisions/0046-laptops-on-azure.md).
    """

    def __init__(self, name: str, args: LaptopsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:Laptops", name, None, opts)
        self.args, self.spec, self.owner = args, args["spec"], args["owner"]
        self.place = resource_group(args["fleet"], self.spec.region)
        self.child = pulumi.ResourceOptions(parent=self)
        self.authority = LaptopsAuthority(
            PLACE, {"fleet": args["fleet"], "spec": self.spec, "owner": self.owner}, self.child
        )
        self.group = self._security_group()
        self.hosts = host_authority(args["fleet"], self.spec.logins, self.child)
        self.servers = {server.name: self._server(server) for server in self.spec.servers}
        self.register_outputs({})

    def _security_group(self) -> azure.network.NetworkSecurityGroup:
        rules = [firewall.Rule(*rule) for rule in ports.rules(self.spec, self.args["supernet"])]
        return azure.network.NetworkSecurityGroup(
            "laptops",
            network_security_group_name=self.owner.name("servers", 80),
            resource_group_name=self.place,
            location=self.spec.region,
            security_rules=written(ruled(rules), None),
            tags=self.owner.tags("laptops"),
            opts=self.child,
        )

    def _server(self, server: Server) -> LaptopServer:
        made = LaptopServer(
            server.name,
            {
                "fleet": self.args["fleet"],
                "spec": self.spec,
                "server": server,
                "owner": self.owner,
                "authority": self.authority,
                "subnet_id": self.args["subnet_ids"][server.zone],
                "group_id": self.group.id,
                "image": self.args["image"],
                "cluster_authority": self.args["cluster_authority"],
                "people_authority": self.args["people_authority"],
                "hosts": self.hosts,
            },
            self.child,
        )
        address = made.interface.ip_configurations.apply(lambda found: (found or [])[0].private_ip_address or "")
        azure.privatedns.PrivateRecordSet(
            server.name,
            private_zone_name=self.args["zone_name"],
            resource_group_name=self.place,
            relative_record_set_name=server.name,
            record_type="A",
            ttl=RECORD_SECONDS,
            a_records=[{"ipv4_address": address}],
            opts=self.child,
        )
        return made

"""A region's servers for laptops on Azure, their names, and whom they hear."""

import pulumi
import pulumi_azure_native as azure

from components.pools import firewall
from components.pools.azure.firewall import ruled, written
from fleet.buckets import resource_group
from fleet.laptops import PLACE

from .. import ports
from ..laptops import RECORD_SECONDS, AnyLaptops, AnyLaptopsArgs
from ..spec import Server
from .authority import LaptopsAuthority
from .server import LaptopServer


class LaptopsArgs(AnyLaptopsArgs):
    """`zone_name` is the region's private zone's; `image` is what servers start from, as Azure's `imageReference` has
    it.
    """

    zone_name: str
    image: dict[str, str]


class Laptops(AnyLaptops):
    """`servers` by name, `authority` with the certificate that vouches for them and for people.

    No route leads to laptops: they come in their server's name (docs/decisions/0046-laptops-on-azure.md).
    """

    def __init__(self, name: str, args: LaptopsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.place = resource_group(self.fleet, self.spec.region)
        self.authority = LaptopsAuthority(
            PLACE, {"fleet": self.fleet, "spec": self.spec, "owner": self.owner}, self.child
        )
        group = self._security_group(args["supernet"])
        self.servers = {server.name: self._server(args, server, group.id) for server in self.spec.servers}
        self.register_outputs({})

    def _security_group(self, supernet: str) -> azure.network.NetworkSecurityGroup:
        rules = [firewall.Rule(*rule) for rule in ports.rules(self.spec, supernet)]
        return azure.network.NetworkSecurityGroup(
            "laptops",
            network_security_group_name=self.owner.name("servers", 80),
            resource_group_name=self.place,
            location=self.spec.region,
            security_rules=written(ruled(rules), None),
            tags=self.owner.tags("laptops"),
            opts=self.child,
        )

    def _server(self, args: LaptopsArgs, server: Server, group_id: pulumi.Input[str]) -> LaptopServer:
        server_args = self.server_args(args, server, group_id)
        made = LaptopServer(
            server.name, {**server_args, "authority": self.authority, "image": args["image"]}, self.child
        )
        address = made.interface.ip_configurations.apply(lambda found: (found or [])[0].private_ip_address or "")
        azure.privatedns.PrivateRecordSet(
            server.name,
            private_zone_name=args["zone_name"],
            resource_group_name=self.place,
            relative_record_set_name=server.name,
            record_type="A",
            ttl=RECORD_SECONDS,
            a_records=[{"ipv4_address": address}],
            opts=self.child,
        )
        return made

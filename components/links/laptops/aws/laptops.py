"""A region's servers for laptops on AWS, the ways to them, and whom they hear."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.network.routes import table_names
from fleet.laptops import PLACE

from .. import ports
from ..laptops import RECORD_SECONDS, AnyLaptops, AnyLaptopsArgs
from ..spec import Server
from .authority import LaptopsAuthority
from .server import LaptopServer


class LaptopsArgs(AnyLaptopsArgs):
    """Ids are the region's: `table_ids` of all its route tables by name, `zone_id` of its private zone."""

    network_id: pulumi.Input[str]
    table_ids: dict[str, pulumi.Input[str]]
    zone_id: pulumi.Input[str]
    key_arn: pulumi.Input[str]


class Laptops(AnyLaptops):
    """`servers` by name, `authority` with the certificate that vouches for them and for people."""

    def __init__(self, name: str, args: LaptopsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.authority = LaptopsAuthority(
            PLACE, {"spec": self.spec, "owner": self.owner, "key_arn": args["key_arn"]}, self.child
        )
        group = self._security_group(args)
        self.servers = {server.name: self._server(args, server, group.id) for server in self.spec.servers}
        self.register_outputs({})

    def _security_group(self, args: LaptopsArgs) -> aws.ec2.SecurityGroup:
        tags = self.owner.tags("laptops")
        group = aws.ec2.SecurityGroup(
            "laptops",
            name=tags["Name"],
            description=ports.DESCRIPTION,
            vpc_id=args["network_id"],
            tags=tags,
            opts=self.child,
        )
        for rule in ports.rules(self.spec, args["supernet"]):
            kind: Any = aws.vpc.SecurityGroupIngressRule if rule.direction == "in" else aws.vpc.SecurityGroupEgressRule
            kind(
                rule.name,
                security_group_id=group.id,
                ip_protocol=rule.protocol,
                from_port=rule.first,
                to_port=rule.last,
                cidr_ipv4=rule.cidr,
                description=rule.why,
                tags=self.owner.tags(rule.name),
                opts=self.child,
            )
        return group

    def _server(self, args: LaptopsArgs, server: Server, group_id: pulumi.Input[str]) -> LaptopServer:
        server_args = self.server_args(args, server, group_id)
        made = LaptopServer(
            server.name, {**server_args, "authority": self.authority, "key_arn": args["key_arn"]}, self.child
        )
        # What comes from elsewhere enters by the hub, in private subnets: the region's block leads here as a whole.
        for table in table_names(self.fleet.regions[self.spec.region]):
            aws.ec2.Route(
                f"{table}-{server.name}",
                route_table_id=args["table_ids"][table],
                destination_cidr_block=server.pool_cidr,
                network_interface_id=made.interface.id,
                opts=self.child,
            )
        aws.route53.Record(
            server.name,
            zone_id=args["zone_id"],
            name=server.host,
            type="A",
            ttl=RECORD_SECONDS,
            records=[made.interface.private_ip],
            opts=self.child,
        )
        return made

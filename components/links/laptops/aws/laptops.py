"""A region's servers for laptops on AWS, the ways to them, and whom they hear."""

from typing import Any, TypedDict

import pulumi
import pulumi_aws as aws

from components.boot.hosts import host_authority
from components.network.routes import table_names
from components.tags import Owner
from fleet.laptops import PLACE
from fleet.model import Fleet

from .. import ports
from ..spec import LaptopsSpec, Server
from .authority import LaptopsAuthority
from .server import LaptopServer

RECORD_SECONDS = 60


class LaptopsArgs(TypedDict):
    """Ids are the region's: `subnet_ids` of its public subnets by zone letter, `table_ids` of all its route tables.

    `cluster_authority` is PEM: whom servers trust as nodes of their cluster.
    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    """

    fleet: Fleet
    spec: LaptopsSpec
    owner: Owner
    supernet: str
    network_id: pulumi.Input[str]
    subnet_ids: dict[str, pulumi.Input[str]]
    table_ids: dict[str, pulumi.Input[str]]
    zone_id: pulumi.Input[str]
    key_arn: pulumi.Input[str]
    cluster_authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]


class Laptops(pulumi.ComponentResource):
    """`servers` by name, `authority` with the certificate that vouches for them and for people."""

    def __init__(self, name: str, args: LaptopsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:Laptops", name, None, opts)
        self.args, self.spec, self.owner = args, args["spec"], args["owner"]
        self.child = pulumi.ResourceOptions(parent=self)
        self.authority = LaptopsAuthority(
            PLACE, {"spec": self.spec, "owner": self.owner, "key_arn": args["key_arn"]}, self.child
        )
        self.group = self._security_group()
        self.hosts = host_authority(args["fleet"], self.spec.logins, self.child)
        self.servers = {server.name: self._server(server) for server in self.spec.servers}
        self.register_outputs({})

    def _security_group(self) -> aws.ec2.SecurityGroup:
        tags = self.owner.tags("laptops")
        group = aws.ec2.SecurityGroup(
            "laptops",
            name=tags["Name"],
            description=ports.DESCRIPTION,
            vpc_id=self.args["network_id"],
            tags=tags,
            opts=self.child,
        )
        for rule in ports.rules(self.spec, self.args["supernet"]):
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
                "key_arn": self.args["key_arn"],
                "cluster_authority": self.args["cluster_authority"],
                "people_authority": self.args["people_authority"],
                "hosts": self.hosts,
            },
            self.child,
        )
        # What comes from elsewhere enters by the hub, in private subnets: the region's block leads here as a whole.
        for table in table_names(self.args["fleet"].regions[self.spec.region]):
            aws.ec2.Route(
                f"{table}-{server.name}",
                route_table_id=self.args["table_ids"][table],
                destination_cidr_block=server.pool_cidr,
                network_interface_id=made.interface.id,
                opts=self.child,
            )
        aws.route53.Record(
            server.name,
            zone_id=self.args["zone_id"],
            name=server.host,
            type="A",
            ttl=RECORD_SECONDS,
            records=[made.interface.private_ip],
            opts=self.child,
        )
        return made

"""How a region's network on AWS asks another cloud's regions for their names: rules, and an endpoint that asks."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner

from ..resolver import DNS, Answering, Forward


class ForwardingArgs(TypedDict):
    """`outbound` are the endpoint's own addresses; `subnet_ids` the private subnets' by zone."""

    forwards: Sequence[Forward]
    outbound: Sequence[Answering]
    network_id: pulumi.Input[str]
    subnet_ids: Mapping[str, pulumi.Input[str]]
    owner: Owner


class Forwarding(pulumi.ComponentResource):
    """Whatever asks the network's resolver asks by it: machines, pods, laptops, and sites at the other endpoint."""

    def __init__(self, name: str, args: ForwardingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:Forwarding", name, None, opts)
        self.args, self.owner = args, args["owner"]
        self.child = pulumi.ResourceOptions(parent=self)
        endpoint = aws.route53.ResolverEndpoint(
            "questions",
            name=self.owner.name("questions", 64),
            direction="OUTBOUND",
            ip_addresses=[{"subnet_id": args["subnet_ids"][one.zone], "ip": one.address} for one in args["outbound"]],
            security_group_ids=[self._group().id],
            tags=self.owner.tags("questions"),
            opts=self.child,
        )
        for forward in args["forwards"]:
            self._rule(forward, endpoint)
        self.register_outputs({})

    def _group(self) -> aws.ec2.SecurityGroup:
        """Lets questions out to where they are answered, and nothing in."""
        tags = self.owner.tags("questions")
        group = aws.ec2.SecurityGroup(
            "questions",
            name=tags["Name"],
            description="From where another cloud is asked for names",
            vpc_id=self.args["network_id"],
            tags=tags,
            opts=self.child,
        )
        for forward in self.args["forwards"]:
            for address in forward.addresses:
                for protocol in ("tcp", "udp"):
                    name = f"questions-{forward.region}-{address}-{protocol}"
                    aws.vpc.SecurityGroupEgressRule(
                        name,
                        security_group_id=group.id,
                        ip_protocol=protocol,
                        from_port=DNS,
                        to_port=DNS,
                        cidr_ipv4=f"{address}/32",
                        description=f"names of {forward.region}",
                        tags=self.owner.tags(name),
                        opts=self.child,
                    )
        return group

    def _rule(self, forward: Forward, endpoint: aws.route53.ResolverEndpoint) -> None:
        name = f"questions-{forward.region}"
        rule = aws.route53.ResolverRule(
            name,
            name=self.owner.name(name, 64),
            rule_type="FORWARD",
            domain_name=forward.zone,
            resolver_endpoint_id=endpoint.id,
            target_ips=[{"ip": address, "port": DNS} for address in forward.addresses],
            tags=self.owner.tags(name),
            opts=self.child,
        )
        aws.route53.ResolverRuleAssociation(
            name,
            name=self.owner.name(name, 64),
            resolver_rule_id=rule.id,
            vpc_id=self.args["network_id"],
            opts=self.child,
        )

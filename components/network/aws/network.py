"""A region's network on AWS: VPC, subnets, gateways, routes, endpoints, security groups, flow log, private zone."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner

from ..ports import Group
from ..routes import Route, RouteTable
from .endpoints import Endpoint
from .forwarding import Forwarding
from .hub import Hub
from .spec import NetworkSpec


class NetworkArgs(TypedDict):
    """`flow_log_arn` is the bucket, with prefix, that receives the flow log."""

    spec: NetworkSpec
    owner: Owner
    flow_log_arn: pulumi.Input[str]


class Network(pulumi.ComponentResource):
    """`subnet_ids` by subnet name, `group_ids` by group name, `zone_subnets` the private subnets' names by zone."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:Network", name, None, opts)
        self.spec, self.owner = args["spec"], args["owner"]
        self.child = pulumi.ResourceOptions(parent=self)
        self.vpc = aws.ec2.Vpc(
            "network",
            cidr_block=self.spec.cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags=self.owner.tags("network"),
            opts=self.child,
        )
        self.subnets = self._subnets()
        # Whatever gets its address from the subnet must not take a fixed one.
        self.placed = pulumi.ResourceOptions(parent=self, depends_on=self._reservations())
        self.hub = Hub(
            "hub",
            {
                "asn": self.spec.asn,
                "block": self.spec.block,
                "network_id": self.vpc.id,
                "subnet_ids": [subnet.id for subnet in self.private_subnets().values()],
                "owner": self.owner,
            },
            self.placed,
        )
        self.tables = self._route_tables()
        self.groups = {group.name: self._group(group) for group in self.spec.groups}
        self._close_default_group()
        self.endpoints = {endpoint.name: self._endpoint(endpoint) for endpoint in self.spec.endpoints}
        self.zone = aws.route53.Zone(
            "zone",
            name=self.spec.zone_name,
            comment="Private names of the region",
            vpcs=[{"vpc_id": self.vpc.id, "vpc_region": self.spec.region}],
            tags=self.owner.tags("zone"),
            # Networks of other regions come by links, in a stack of their own.
            opts=pulumi.ResourceOptions.merge(self.child, pulumi.ResourceOptions(ignore_changes=["vpcs"])),
        )
        if self.spec.resolver:
            self._resolver()
        if self.spec.forwards:
            Forwarding(
                "forwarding",
                {
                    "forwards": self.spec.forwards,
                    "outbound": self.spec.outbound,
                    "network_id": self.vpc.id,
                    "subnet_ids": {zone: subnet.id for zone, subnet in self.private_subnets().items()},
                    "owner": self.owner,
                },
                self.placed,
            )
        self._flow_log(args["flow_log_arn"])
        self.register_outputs({})

    def private_subnets(self) -> dict[str, aws.ec2.Subnet]:
        """Private subnets by zone letter."""
        return {subnet.zone: self.subnets[subnet.name] for subnet in self.spec.subnets if not subnet.public}

    def _subnets(self) -> dict[str, aws.ec2.Subnet]:
        return {
            subnet.name: aws.ec2.Subnet(
                subnet.name,
                vpc_id=self.vpc.id,
                cidr_block=subnet.cidr,
                availability_zone=f"{self.spec.region}{subnet.zone}",
                # Only NAT gateways and VPN servers have public addresses, and they bring their own.
                map_public_ip_on_launch=False,
                tags=self.owner.tags(subnet.name),
                opts=self.child,
            )
            for subnet in self.spec.subnets
        }

    def _reservations(self) -> list[aws.ec2.SubnetCidrReservation]:
        return [
            aws.ec2.SubnetCidrReservation(
                f"fixed-{subnet.zone}",
                subnet_id=self.subnets[subnet.name].id,
                cidr_block=subnet.fixed,
                reservation_type="explicit",
                description="Addresses that never change",
                opts=self.child,
            )
            for subnet in self.spec.subnets
            if subnet.fixed
        ]

    def _route_tables(self) -> dict[str, aws.ec2.RouteTable]:
        internet = aws.ec2.InternetGateway(
            "internet", vpc_id=self.vpc.id, tags=self.owner.tags("internet"), opts=self.child
        )
        nats = {subnet.zone: self._nat(subnet.zone, internet) for subnet in self.spec.subnets if subnet.nat}
        tables = {}
        for table in self.spec.route_tables:
            tables[table.name] = resource = aws.ec2.RouteTable(
                table.name, vpc_id=self.vpc.id, tags=self.owner.tags(table.name), opts=self.child
            )
            for route in table.routes:
                self._route(table, resource, route, internet, nats)
            for zone in table.zones:
                subnet = f"{'public' if table.public else 'private'}-{zone}"
                aws.ec2.RouteTableAssociation(
                    subnet, subnet_id=self.subnets[subnet].id, route_table_id=resource.id, opts=self.child
                )
        return tables

    def _nat(self, zone: str, internet: aws.ec2.InternetGateway) -> aws.ec2.NatGateway:
        name = f"nat-{zone}"
        address = aws.ec2.Eip(name, domain="vpc", tags=self.owner.tags(name), opts=self.child)
        # AWS: a NAT gateway made before the network has its internet gateway fails.
        opts = pulumi.ResourceOptions(parent=self, depends_on=[internet])
        return aws.ec2.NatGateway(
            name,
            subnet_id=self.subnets[f"public-{zone}"].id,
            allocation_id=address.id,
            connectivity_type="public",
            tags=self.owner.tags(name),
            opts=opts,
        )

    def _route(
        self,
        table: RouteTable,
        resource: aws.ec2.RouteTable,
        route: Route,
        internet: aws.ec2.InternetGateway,
        nats: dict[str, aws.ec2.NatGateway],
    ) -> None:
        match route.target:
            case "internet":
                target, opts = {"gateway_id": internet.id}, self.child
            case "nat":
                target, opts = {"nat_gateway_id": nats[table.nat_zone or ""].id}, self.child
            case "hub":
                # AWS refuses a route to a transit gateway that the network is not attached to.
                target = {"transit_gateway_id": self.hub.gateway.id}
                opts = pulumi.ResourceOptions(parent=self, depends_on=[self.hub.attachment])
        aws.ec2.Route(
            f"{table.name}-{route.name}",
            route_table_id=resource.id,
            destination_cidr_block=route.cidr,
            opts=opts,
            **target,
        )

    def _group(self, group: Group) -> aws.ec2.SecurityGroup:
        tags = self.owner.tags(group.name)
        resource = aws.ec2.SecurityGroup(
            group.name,
            name=tags["Name"],
            description=group.description,
            vpc_id=self.vpc.id,
            tags=tags,
            opts=self.child,
        )
        for rule in group.rules:
            aws.vpc.SecurityGroupIngressRule(
                f"{group.name}-{rule.name}",
                security_group_id=resource.id,
                ip_protocol=rule.protocol,
                from_port=rule.port,
                to_port=rule.port,
                cidr_ipv4=rule.cidr,
                description=rule.why,
                tags=self.owner.tags(f"{group.name}-{rule.name}"),
                opts=self.child,
            )
        return resource

    def _close_default_group(self) -> None:
        # It comes with the network and lets all its members talk to each other; adopting it without rules empties it.
        aws.ec2.DefaultSecurityGroup("default", vpc_id=self.vpc.id, tags=self.owner.tags("default"), opts=self.child)

    def _endpoint(self, endpoint: Endpoint) -> aws.ec2.VpcEndpoint:
        placed = (
            {"route_table_ids": [table.id for table in self.tables.values()]}
            if endpoint.kind == "Gateway"
            else {
                "subnet_ids": [subnet.id for subnet in self.private_subnets().values()],
                "security_group_ids": [self.groups["endpoints"].id],
                "private_dns_enabled": endpoint.private_dns,
            }
        )
        return aws.ec2.VpcEndpoint(
            f"endpoint-{endpoint.name}",
            vpc_id=self.vpc.id,
            service_name=f"com.amazonaws.{self.spec.region}.{endpoint.service}",
            vpc_endpoint_type=endpoint.kind,
            tags=self.owner.tags(f"endpoint-{endpoint.name}"),
            opts=self.placed,
            **placed,
        )

    def _resolver(self) -> None:
        """It answers by all zones that the network is associated with: those of every region."""
        private = self.private_subnets()
        aws.route53.ResolverEndpoint(
            "resolver",
            name=self.owner.name("resolver", 64),
            direction="INBOUND",
            ip_addresses=[{"subnet_id": private[one.zone].id, "ip": one.address} for one in self.spec.resolver],
            security_group_ids=[self.groups["names"].id],
            tags=self.owner.tags("resolver"),
            opts=self.placed,
        )

    def _flow_log(self, destination_arn: pulumi.Input[str]) -> None:
        aws.ec2.FlowLog(
            "flow-log",
            vpc_id=self.vpc.id,
            traffic_type="ALL",
            log_destination_type="s3",
            log_destination=destination_arn,
            max_aggregation_interval=600,
            destination_options={
                "file_format": "parquet",
                "hive_compatible_partitions": True,
                "per_hour_partition": True,
            },
            tags=self.owner.tags("flow-log"),
            opts=self.child,
        )

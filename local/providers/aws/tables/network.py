"""VPCs, subnets, route tables and routes, flow logs."""

import zlib
from typing import Any

from ..kinds import ID, Call, Change, Found, Kind, Out, P, props, replaces, same_paths
from .ec2 import TAGGING


def _vpc_arn(found: Found) -> str:
    return f"arn:aws:ec2:{found.region}:{found.account}:vpc/{found.id}"


def _attribute(name: str) -> Call:
    take = f"{name[0].upper()}{name[1:]}.Value"
    return Call("describe_vpc_attribute", {"VpcId": ID, "Attribute": name}, take)


def _set_attribute(name: str) -> Change:
    params = {"VpcId": ID, f"{name[0].upper()}{name[1:]}": {"Value": P(name)}}
    return Change((name,), (Call("modify_vpc_attribute", params),), on_create=True)


def _of_vpc(name: str, value: str) -> list[dict[str, Any]]:
    return [{"Name": "vpc-id", "Values": [ID]}, {"Name": name, "Values": [value]}]


VPC = Kind(
    service="ec2",
    create=Call("create_vpc", props("cidrBlock", "instanceTenancy"), "Vpc.VpcId"),
    read=Call("describe_vpcs", {"VpcIds": [ID]}, "Vpcs[0]"),
    more={
        "support": _attribute("enableDnsSupport"),
        "hostnames": _attribute("enableDnsHostnames"),
        "group": Call(
            "describe_security_groups", {"Filters": _of_vpc("group-name", "default")}, "SecurityGroups[0].GroupId"
        ),
        "table": Call(
            "describe_route_tables", {"Filters": _of_vpc("association.main", "true")}, "RouteTables[0].RouteTableId"
        ),
        "acl": Call("describe_network_acls", {"Filters": _of_vpc("default", "true")}, "NetworkAcls[0].NetworkAclId"),
    },
    delete=(Call("delete_vpc", {"VpcId": ID}),),
    outputs={
        **same_paths("cidrBlock", "instanceTenancy", "dhcpOptionsId", "ownerId"),
        "arn": _vpc_arn,
        "enableDnsSupport": "support",
        "enableDnsHostnames": "hostnames",
        "defaultSecurityGroupId": "group",
        "mainRouteTableId": "table",
        "defaultRouteTableId": "table",
        "defaultNetworkAclId": "acl",
    },
    replace=replaces("cidrBlock", "instanceTenancy"),
    changes=(_set_attribute("enableDnsSupport"), _set_attribute("enableDnsHostnames")),
    tagging=TAGGING,
)

RESERVATION = Kind(
    service="ec2",
    create=Call(
        "create_subnet_cidr_reservation",
        {**props("subnetId", "reservationType", "description"), "Cidr": P("cidrBlock")},
        "SubnetCidrReservation.SubnetCidrReservationId",
    ),
    read=Call(
        "get_subnet_cidr_reservations",
        {"SubnetId": P("subnetId")},
        "SubnetIpv4CidrReservations[?SubnetCidrReservationId=='$id'] | [0]",
    ),
    delete=(Call("delete_subnet_cidr_reservation", {"SubnetCidrReservationId": ID}),),
    outputs={**same_paths("subnetId", "reservationType", "description", "ownerId"), "cidrBlock": "Cidr"},
    replace=replaces("subnetId", "cidrBlock", "reservationType", "description"),
)

SUBNET = Kind(
    service="ec2",
    create=Call("create_subnet", props("vpcId", "cidrBlock", "availabilityZone"), "Subnet.SubnetId"),
    read=Call("describe_subnets", {"SubnetIds": [ID]}, "Subnets[0]"),
    delete=(Call("delete_subnet", {"SubnetId": ID}),),
    outputs={
        **same_paths("vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId", "ownerId", "mapPublicIpOnLaunch"),
        "arn": "SubnetArn",
    },
    replace=replaces("vpcId", "cidrBlock", "availabilityZone"),
    changes=(
        Change(
            ("mapPublicIpOnLaunch",),
            (
                Call(
                    "modify_subnet_attribute",
                    {"SubnetId": ID, "MapPublicIpOnLaunch": {"Value": P("mapPublicIpOnLaunch")}},
                ),
            ),
            on_create=True,
        ),
    ),
    tagging=TAGGING,
)

ROUTE_TABLE = Kind(
    service="ec2",
    create=Call("create_route_table", props("vpcId"), "RouteTable.RouteTableId"),
    read=Call("describe_route_tables", {"RouteTableIds": [ID]}, "RouteTables[0]"),
    delete=(Call("delete_route_table", {"RouteTableId": ID}),),
    outputs={
        **same_paths("vpcId", "ownerId"),
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:route-table/{found.id}",
    },
    replace=replaces("vpcId"),
    tagging=TAGGING,
)

_TARGETS = (
    "gatewayId",
    "natGatewayId",
    "transitGatewayId",
    "vpcEndpointId",
    "networkInterfaceId",
    "vpcPeeringConnectionId",
)


def _route_id(_: Any, inputs: Any) -> str:
    # The provider's own form: r-<table><checksum of the destination>.
    return f"r-{inputs['routeTableId']}{zlib.crc32(inputs['destinationCidrBlock'].encode())}"


ROUTE = Kind(
    service="ec2",
    create=Call("create_route", props("routeTableId", "destinationCidrBlock", *_TARGETS)),
    read=Call(
        "describe_route_tables",
        {"RouteTableIds": [P("routeTableId")]},
        "RouteTables[0].Routes[?DestinationCidrBlock=='$destinationCidrBlock'] | [0]",
    ),
    delete=(
        Call(
            "delete_route", {"RouteTableId": Out("routeTableId"), "DestinationCidrBlock": Out("destinationCidrBlock")}
        ),
    ),
    outputs={**same_paths("destinationCidrBlock", *_TARGETS), "state": "State", "origin": "Origin"},
    replace=replaces("routeTableId", "destinationCidrBlock"),
    changes=(Change(_TARGETS, (Call("replace_route", props("routeTableId", "destinationCidrBlock", *_TARGETS)),)),),
    make_id=_route_id,
    missing=("InvalidRoute.NotFound",),
)

ASSOCIATION = Kind(
    service="ec2",
    create=Call("associate_route_table", props("routeTableId", "subnetId", "gatewayId"), "AssociationId"),
    read=Call(
        "describe_route_tables",
        {"Filters": [{"Name": "association.route-table-association-id", "Values": [ID]}]},
        "RouteTables[].Associations[] | [?RouteTableAssociationId=='$id'] | [0]",
    ),
    delete=(Call("disassociate_route_table", {"AssociationId": ID}),),
    outputs=same_paths("routeTableId", "subnetId", "gatewayId"),
    replace=replaces("routeTableId", "subnetId", "gatewayId"),
    delete_first=True,  # a subnet has one table at a time
)

FLOW_LOG = Kind(
    service="ec2",
    create=Call(
        "create_flow_logs",
        {
            "ResourceIds": [P("vpcId")],
            "ResourceType": "VPC",
            **props("trafficType", "logDestinationType", "logDestination", "maxAggregationInterval"),
            "DestinationOptions": {
                "FileFormat": P("destinationOptions", convert=lambda options: options.get("fileFormat")),
                "HiveCompatiblePartitions": P(
                    "destinationOptions", convert=lambda o: o.get("hiveCompatiblePartitions")
                ),
                "PerHourPartition": P("destinationOptions", convert=lambda options: options.get("perHourPartition")),
            },
        },
        "FlowLogIds[0]",
    ),
    failure="Unsuccessful[0].Error.Message",
    read=Call("describe_flow_logs", {"FlowLogIds": [ID]}, "FlowLogs[0]"),
    delete=(Call("delete_flow_logs", {"FlowLogIds": [ID]}),),
    outputs={
        **same_paths("trafficType", "logDestinationType", "logDestination", "maxAggregationInterval"),
        "vpcId": "ResourceId",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:vpc-flow-log/{found.id}",
    },
    replace=replaces(
        *(
            "vpcId",
            "trafficType",
            "logDestinationType",
            "logDestination",
            "maxAggregationInterval",
            "destinationOptions",
        )
    ),
    tagging=TAGGING,
)

KINDS = {
    "aws:ec2/vpc:Vpc": VPC,
    "aws:ec2/subnet:Subnet": SUBNET,
    "aws:ec2/subnetCidrReservation:SubnetCidrReservation": RESERVATION,
    "aws:ec2/routeTable:RouteTable": ROUTE_TABLE,
    "aws:ec2/route:Route": ROUTE,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": ASSOCIATION,
    "aws:ec2/flowLog:FlowLog": FLOW_LOG,
}

"""Ways out of a network: internet and NAT gateways, addresses, endpoints."""

from ..kinds import ID, Added, Call, Change, Kind, Out, P, Removed, props, replaces, same_paths
from .ec2 import TAGGING

INTERNET_GATEWAY = Kind(
    service="ec2",
    create=Call("create_internet_gateway", {}, "InternetGateway.InternetGatewayId"),
    read=Call("describe_internet_gateways", {"InternetGatewayIds": [ID]}, "InternetGateways[0]"),
    delete=(
        Call("detach_internet_gateway", {"InternetGatewayId": ID, "VpcId": Out("vpcId")}, when="vpcId"),
        Call("delete_internet_gateway", {"InternetGatewayId": ID}),
    ),
    outputs={
        "vpcId": "Attachments[0].VpcId",
        "ownerId": "OwnerId",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:internet-gateway/{found.id}",
    },
    changes=(
        Change(
            ("vpcId",),
            (Call("attach_internet_gateway", {"InternetGatewayId": ID, "VpcId": P("vpcId")}),),
            on_create=True,
        ),
    ),
    replace=replaces("vpcId"),
    delete_first=True,  # a network has one
    tagging=TAGGING,
    missing=("Gateway.NotAttached",),
)

EIP = Kind(
    service="ec2",
    create=Call("allocate_address", props("domain"), "AllocationId"),
    read=Call("describe_addresses", {"AllocationIds": [ID]}, "Addresses[0]"),
    delete=(Call("release_address", {"AllocationId": ID}),),
    outputs={
        **same_paths("domain", "publicIp", "allocationId", "associationId"),
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:elastic-ip/{found.id}",
    },
    replace=replaces("domain"),
    tagging=TAGGING,
)

NAT_GATEWAY = Kind(
    service="ec2",
    create=Call("create_nat_gateway", props("subnetId", "allocationId", "connectivityType"), "NatGateway.NatGatewayId"),
    read=Call(
        "describe_nat_gateways",
        {"NatGatewayIds": [ID]},
        "NatGateways[?State!='deleted' && State!='deleting'] | [0]",
    ),
    delete=(Call("delete_nat_gateway", {"NatGatewayId": ID}),),
    outputs={
        **same_paths("subnetId", "connectivityType"),
        "allocationId": "NatGatewayAddresses[0].AllocationId",
        "publicIp": "NatGatewayAddresses[0].PublicIp",
        "privateIp": "NatGatewayAddresses[0].PrivateIp",
        "networkInterfaceId": "NatGatewayAddresses[0].NetworkInterfaceId",
    },
    replace=replaces("subnetId", "allocationId", "connectivityType"),
    tagging=TAGGING,
    missing=("NatGatewayNotFound",),
)


def _lists(name: str) -> Change:
    part = name[0].upper() + name[1:]
    params = {"VpcEndpointId": ID, f"Add{part}": Added(name), f"Remove{part}": Removed(name)}
    return Change((name,), (Call("modify_vpc_endpoint", params),))


ENDPOINT = Kind(
    service="ec2",
    create=Call(
        "create_vpc_endpoint",
        {
            **props("vpcId", "serviceName", "vpcEndpointType", "subnetIds", "securityGroupIds", "routeTableIds"),
            "PrivateDnsEnabled": P("privateDnsEnabled"),
            "PolicyDocument": P("policy"),
        },
        "VpcEndpoint.VpcEndpointId",
    ),
    read=Call("describe_vpc_endpoints", {"VpcEndpointIds": [ID]}, "VpcEndpoints[?State!='deleted'] | [0]"),
    delete=(Call("delete_vpc_endpoints", {"VpcEndpointIds": [ID]}),),
    outputs={
        **same_paths("vpcId", "serviceName", "vpcEndpointType", "subnetIds", "routeTableIds", "privateDnsEnabled"),
        **same_paths("networkInterfaceIds", "state", "ownerId"),
        "securityGroupIds": "Groups[].GroupId",
        "dnsEntries": "DnsEntries[].{dnsName: DnsName, hostedZoneId: HostedZoneId}",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:vpc-endpoint/{found.id}",
    },
    replace=replaces("vpcId", "serviceName", "vpcEndpointType"),
    changes=(
        _lists("subnetIds"),
        _lists("securityGroupIds"),
        _lists("routeTableIds"),
        Change(
            ("privateDnsEnabled",),
            (Call("modify_vpc_endpoint", {"VpcEndpointId": ID, "PrivateDnsEnabled": P("privateDnsEnabled")}),),
        ),
    ),
    tagging=TAGGING,
    missing=("InvalidVpcEndpointId.NotFound",),
)

KINDS = {
    "aws:ec2/internetGateway:InternetGateway": INTERNET_GATEWAY,
    "aws:ec2/eip:Eip": EIP,
    "aws:ec2/natGateway:NatGateway": NAT_GATEWAY,
    "aws:ec2/vpcEndpoint:VpcEndpoint": ENDPOINT,
}

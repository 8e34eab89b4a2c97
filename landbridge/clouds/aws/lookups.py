"""Finds in AWS what a killed run may have created without learning its id.

Three tables by resource type: what its tag Name finds, what takes a call of its own, and links between two resources,
which hold nothing and are undone so that they can be made again. What is in no table is either repeatable (its creation
only sets something) or must be looked for by people.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

Inputs = Mapping[str, Any]
ClientOf = Callable[[str], Any]


class Listing(NamedTuple):
    """The call that lists all resources of a type, the field with the list, and the field with each one's id."""

    service: str
    call: str
    items: str
    id: str


# Type → where to look for the one with our tag Name. (describe_tags would be one call for all of EC2, but it goes on
# naming what was deleted.)
TAGGED = {
    "aws:ec2/vpc:Vpc": Listing("ec2", "describe_vpcs", "Vpcs", "VpcId"),
    "aws:ec2/subnet:Subnet": Listing("ec2", "describe_subnets", "Subnets", "SubnetId"),
    "aws:ec2/internetGateway:InternetGateway": Listing(
        "ec2", "describe_internet_gateways", "InternetGateways", "InternetGatewayId"
    ),
    "aws:ec2/natGateway:NatGateway": Listing("ec2", "describe_nat_gateways", "NatGateways", "NatGatewayId"),
    "aws:ec2/eip:Eip": Listing("ec2", "describe_addresses", "Addresses", "AllocationId"),
    "aws:ec2/routeTable:RouteTable": Listing("ec2", "describe_route_tables", "RouteTables", "RouteTableId"),
    "aws:ec2/securityGroup:SecurityGroup": Listing("ec2", "describe_security_groups", "SecurityGroups", "GroupId"),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Listing(
        "ec2", "describe_security_group_rules", "SecurityGroupRules", "SecurityGroupRuleId"
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": Listing(
        "ec2", "describe_security_group_rules", "SecurityGroupRules", "SecurityGroupRuleId"
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Listing("ec2", "describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId"),
    "aws:ec2/flowLog:FlowLog": Listing("ec2", "describe_flow_logs", "FlowLogs", "FlowLogId"),
    "aws:ec2transitgateway/transitGateway:TransitGateway": Listing(
        "ec2", "describe_transit_gateways", "TransitGateways", "TransitGatewayId"
    ),
    "aws:ec2transitgateway/vpcAttachment:VpcAttachment": Listing(
        "ec2", "describe_transit_gateway_vpc_attachments", "TransitGatewayVpcAttachments", "TransitGatewayAttachmentId"
    ),
    "aws:ec2transitgateway/routeTable:RouteTable": Listing(
        "ec2", "describe_transit_gateway_route_tables", "TransitGatewayRouteTables", "TransitGatewayRouteTableId"
    ),
    "aws:ec2transitgateway/peeringAttachment:PeeringAttachment": Listing(
        "ec2",
        "describe_transit_gateway_peering_attachments",
        "TransitGatewayPeeringAttachments",
        "TransitGatewayAttachmentId",
    ),
    "aws:ec2/customerGateway:CustomerGateway": Listing(
        "ec2", "describe_customer_gateways", "CustomerGateways", "CustomerGatewayId"
    ),
    "aws:ec2/vpnConnection:VpnConnection": Listing(
        "ec2", "describe_vpn_connections", "VpnConnections", "VpnConnectionId"
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Listing(
        "ec2", "describe_launch_templates", "LaunchTemplates", "LaunchTemplateId"
    ),
    "aws:ebs/volume:Volume": Listing("ec2", "describe_volumes", "Volumes", "VolumeId"),
    "aws:ec2/networkInterface:NetworkInterface": Listing(
        "ec2", "describe_network_interfaces", "NetworkInterfaces", "NetworkInterfaceId"
    ),
    "aws:secretsmanager/secret:Secret": Listing("secretsmanager", "list_secrets", "SecretList", "ARN"),
    "aws:efs/fileSystem:FileSystem": Listing("efs", "describe_file_systems", "FileSystems", "FileSystemId"),
    "aws:efs/accessPoint:AccessPoint": Listing("efs", "describe_access_points", "AccessPoints", "AccessPointId"),
}

# Creating these once more only sets the same again.
REPEATABLE = {
    "aws:autoscaling/lifecycleHook:LifecycleHook",
    "aws:cloudwatch/metricAlarm:MetricAlarm",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:ec2/eipAssociation:EipAssociation",
    "aws:efs/backupPolicy:BackupPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:lb/targetGroupAttachment:TargetGroupAttachment",
    "aws:s3/bucketObjectv2:BucketObjectv2",
    "aws:sns/topicPolicy:TopicPolicy",
    "aws:sns/topicSubscription:TopicSubscription",  # an address is subscribed once
    "aws:secretsmanager/secretVersion:SecretVersion",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketVersioning:BucketVersioning",
}


# Resources of these exist in the state and nowhere else.
NOWHERE = ("tls:", "random:")
# AWS shows some resources for an hour after their end.
GONE = {"deleted", "deleting"}


def _named(items: list[dict[str, Any]], field: str, wanted: Any, id_: str) -> str | None:
    return next((str(item[id_]) for item in items if item.get(field) == wanted), None)


def there(of: ClientOf, listing: Listing) -> Iterator[dict[str, Any]]:
    """All that a listing tells of and that is not gone."""
    client = of(listing.service)
    pages = (
        client.get_paginator(listing.call).paginate()
        if client.can_paginate(listing.call)
        else [getattr(client, listing.call)()]
    )
    for item in (item for page in pages for item in page[listing.items]):
        if str(item.get("State", item.get("LifeCycleState"))) not in GONE:
            yield item


def tags(item: Inputs) -> dict[str, str]:
    """A listed item's tags."""
    return {tag["Key"]: tag["Value"] for tag in item.get("Tags", item.get("TagSet", ()))}


def _tagged(of: ClientOf, listing: Listing, name: str) -> str | None:
    return next((str(item[listing.id]) for item in there(of, listing) if tags(item).get("Name") == name), None)


def _zone(of: ClientOf, inputs: Inputs) -> str | None:
    zones = of("route53").list_hosted_zones_by_name(DNSName=inputs["name"])["HostedZones"]
    found = _named(zones, "Name", f"{inputs['name'].rstrip('.')}.", "Id")
    return found and found.rpartition("/")[2]


def _key(of: ClientOf, inputs: Inputs) -> str | None:
    """Keys have no names, and no call lists them by their tags."""
    kms, name = of("kms"), name_of(inputs)
    for key in (key["KeyId"] for page in kms.get_paginator("list_keys").paginate() for key in page["Keys"]):
        try:
            live = kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"] != "PendingDeletion"
            has = {tag["TagKey"]: tag["TagValue"] for tag in kms.list_resource_tags(KeyId=key)["Tags"]} if live else {}
        except ClientError:  # it is others', who let nobody look
            continue
        if name and has.get("Name") == name:
            return str(key)
    return None


# Type → its id in the cloud, or None.
FINDERS: dict[str, Callable[[ClientOf, Inputs], str | None]] = {
    "aws:s3/bucket:Bucket": lambda of, i: _named(of("s3").list_buckets()["Buckets"], "Name", i.get("bucket"), "Name"),
    "aws:kms/key:Key": _key,
    "aws:ec2/placementGroup:PlacementGroup": lambda of, i: _named(
        of("ec2").describe_placement_groups()["PlacementGroups"], "GroupName", i["name"], "GroupName"
    ),
    "aws:rolesanywhere/trustAnchor:TrustAnchor": lambda of, i: _named(
        of("rolesanywhere").list_trust_anchors()["trustAnchors"], "name", i["name"], "trustAnchorId"
    ),
    "aws:rolesanywhere/profile:Profile": lambda of, i: _named(
        of("rolesanywhere").list_profiles()["profiles"], "name", i["name"], "profileId"
    ),
    "aws:kms/alias:Alias": lambda of, i: _named(
        of("kms").list_aliases()["Aliases"], "AliasName", i.get("name"), "AliasName"
    ),
    "aws:efs/mountTarget:MountTarget": lambda of, i: _named(
        of("efs").describe_mount_targets(FileSystemId=i["fileSystemId"])["MountTargets"],
        "SubnetId",
        i["subnetId"],
        "MountTargetId",
    ),
    "aws:ec2/subnetCidrReservation:SubnetCidrReservation": lambda of, i: _named(
        of("ec2").get_subnet_cidr_reservations(SubnetId=i["subnetId"])["SubnetIpv4CidrReservations"],
        "Cidr",
        i["cidrBlock"],
        "SubnetCidrReservationId",
    ),
    "aws:route53/zone:Zone": _zone,
    "aws:route53/resolverEndpoint:ResolverEndpoint": lambda of, i: _named(
        of("route53resolver").list_resolver_endpoints()["ResolverEndpoints"], "Name", i["name"], "Id"
    ),
    "aws:route53/resolverRule:ResolverRule": lambda of, i: _named(
        of("route53resolver").list_resolver_rules()["ResolverRules"], "Name", i["name"], "Id"
    ),
    "aws:sns/topic:Topic": lambda of, i: next(
        (
            str(topic["TopicArn"])
            for page in of("sns").get_paginator("list_topics").paginate()
            for topic in page["Topics"]
            if topic["TopicArn"].endswith(f":{i['name']}")
        ),
        None,
    ),
    "aws:iam/role:Role": lambda of, i: of("iam").get_role(RoleName=i["name"])["Role"]["RoleName"],
    "aws:iam/instanceProfile:InstanceProfile": lambda of, i: of("iam").get_instance_profile(
        InstanceProfileName=i["name"]
    )["InstanceProfile"]["InstanceProfileName"],
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": lambda of, i: next(
        (
            str(provider["Arn"])
            for provider in of("iam").list_open_id_connect_providers()["OpenIDConnectProviderList"]
            if provider["Arn"].endswith(f":oidc-provider/{i['url'].removeprefix('https://')}")
        ),
        None,
    ),
    "aws:lb/loadBalancer:LoadBalancer": lambda of, i: of("elbv2").describe_load_balancers(Names=[i["name"]])[
        "LoadBalancers"
    ][0]["LoadBalancerArn"],
    "aws:lb/targetGroup:TargetGroup": lambda of, i: of("elbv2").describe_target_groups(Names=[i["name"]])[
        "TargetGroups"
    ][0]["TargetGroupArn"],
    "aws:lb/listener:Listener": lambda of, i: _named(
        of("elbv2").describe_listeners(LoadBalancerArn=i["loadBalancerArn"])["Listeners"],
        "Port",
        int(i["port"]),
        "ListenerArn",
    ),
    "aws:autoscaling/group:Group": lambda of, i: _named(
        of("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[i["name"]])["AutoScalingGroups"],
        "AutoScalingGroupName",
        i["name"],
        "AutoScalingGroupName",
    ),
    # One that is accepted already is not taken twice.
    "aws:ec2transitgateway/peeringAttachmentAccepter:PeeringAttachmentAccepter": lambda of, i: next(
        (
            str(one["TransitGatewayAttachmentId"])
            for one in of("ec2").describe_transit_gateway_peering_attachments(
                TransitGatewayAttachmentIds=[i["transitGatewayAttachmentId"]]
            )["TransitGatewayPeeringAttachments"]
            if one["State"] == "available"
        ),
        None,
    ),
    "aws:cloudwatch/logGroup:LogGroup": lambda of, i: _named(
        of("logs").describe_log_groups(logGroupNamePrefix=i["name"])["logGroups"],
        "logGroupName",
        i["name"],
        "logGroupName",
    ),
}


def _disassociate(of: ClientOf, inputs: Inputs) -> None:
    table = of("ec2").describe_route_tables(RouteTableIds=[inputs["routeTableId"]])["RouteTables"][0]
    for association in table["Associations"]:
        if association.get("SubnetId") == inputs.get("subnetId"):
            of("ec2").disassociate_route_table(AssociationId=association["RouteTableAssociationId"])


def _remove_record(of: ClientOf, inputs: Inputs) -> None:
    """A name is what joins a zone and an address; CREATE refuses one that is there."""
    records = [{"Value": record} for record in inputs["records"]]
    made = {"Name": inputs["name"], "Type": inputs["type"], "TTL": int(inputs["ttl"]), "ResourceRecords": records}
    changes = {"Changes": [{"Action": "DELETE", "ResourceRecordSet": made}]}
    of("route53").change_resource_record_sets(HostedZoneId=inputs["zoneId"], ChangeBatch=changes)


def _of_pair(call: str) -> Callable[[ClientOf, Inputs], object]:
    """A hub's route table and an attachment, joined in one of two ways."""
    return lambda of, i: getattr(of("ec2"), call)(
        TransitGatewayRouteTableId=i["transitGatewayRouteTableId"],
        TransitGatewayAttachmentId=i["transitGatewayAttachmentId"],
    )


# Type → how to take away a link that may have been made.
UNDOERS: dict[str, Callable[[ClientOf, Inputs], object]] = {
    "aws:route53/record:Record": _remove_record,
    "aws:ec2/route:Route": lambda of, i: of("ec2").delete_route(
        RouteTableId=i["routeTableId"], DestinationCidrBlock=i["destinationCidrBlock"]
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _disassociate,
    "aws:ec2transitgateway/route:Route": lambda of, i: of("ec2").delete_transit_gateway_route(
        TransitGatewayRouteTableId=i["transitGatewayRouteTableId"], DestinationCidrBlock=i["destinationCidrBlock"]
    ),
    "aws:ec2transitgateway/routeTableAssociation:RouteTableAssociation": _of_pair(
        "disassociate_transit_gateway_route_table"
    ),
    "aws:ec2transitgateway/routeTablePropagation:RouteTablePropagation": _of_pair(
        "disable_transit_gateway_route_table_propagation"
    ),
    "aws:route53/zoneAssociation:ZoneAssociation": lambda of, i: of("route53").disassociate_vpc_from_hosted_zone(
        HostedZoneId=i["zoneId"], VPC={"VPCId": i["vpcId"], "VPCRegion": i["vpcRegion"]}
    ),
    "aws:route53/resolverRuleAssociation:ResolverRuleAssociation": lambda of, i: of(
        "route53resolver"
    ).disassociate_resolver_rule(ResolverRuleId=i["resolverRuleId"], VPCId=i["vpcId"]),
}


def name_of(inputs: Inputs) -> str:
    """The tag Name, which is unique in the fleet for each type."""
    tags = inputs.get("tags")
    return str(tags.get("Name", "")) if isinstance(tags, Mapping) else ""


def find(of: ClientOf, type_: str, inputs: Inputs) -> str | None:
    """The id of the resource if the cloud has it."""
    try:
        if finder := FINDERS.get(type_):
            return finder(of, inputs)
        listing, name = TAGGED.get(type_), name_of(inputs)
        if listing and name:
            return _tagged(of, listing, name)
    except (ClientError, KeyError):  # the cloud has no such thing
        return None
    return None


def undo(of: ClientOf, type_: str, inputs: Inputs) -> bool:
    """Takes a link away; False for types that are none."""
    undoer = UNDOERS.get(type_)
    if undoer is None:
        return False
    try:
        undoer(of, inputs)
    except (ClientError, KeyError):  # it had not been made
        return True
    return True


def clients(region: str, account: str | None, config: Config | None = None) -> ClientOf:
    """boto3 clients of one region, with the user's own credentials; in the local cloud those are dummies."""
    made: dict[str, Any] = {}

    def of(service: str) -> Any:
        if service not in made:
            made[service] = boto3.client(service, region_name=region, config=config)
            if account:  # the local cloud is many accounts at once, and this names one
                made[service].meta.events.register("before-send.*", lambda request, **_: set_account(request, account))
        return made[service]

    return of


def set_account(request: Any, account: str) -> None:
    request.headers["x-moto-account-id"] = account

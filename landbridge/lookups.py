"""Finds in AWS what a killed run may have created without learning its id.

Three tables by resource type: what EC2's tags find, what takes a call of its own, and links between two resources,
which hold nothing and are undone so that they can be made again. What is in no table is either repeatable (its creation
only sets something) or must be looked for by people.
"""

from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.exceptions import ClientError

Inputs = Mapping[str, Any]
ClientOf = Callable[[str], Any]

# Type → how its ids begin (describe_tags answers for all of EC2 at once).
EC2_IDS = {
    "aws:ec2/vpc:Vpc": "vpc",
    "aws:ec2/subnet:Subnet": "subnet",
    "aws:ec2/internetGateway:InternetGateway": "igw",
    "aws:ec2/natGateway:NatGateway": "nat",
    "aws:ec2/eip:Eip": "eipalloc",
    "aws:ec2/routeTable:RouteTable": "rtb",
    "aws:ec2/securityGroup:SecurityGroup": "sg",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": "sgr",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": "sgr",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "vpce",
    "aws:ec2/flowLog:FlowLog": "fl",
    "aws:ec2transitgateway/transitGateway:TransitGateway": "tgw",
    "aws:ec2transitgateway/vpcAttachment:VpcAttachment": "tgw-attach",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt",
    "aws:ec2/instance:Instance": "i",
    "aws:ebs/volume:Volume": "vol",
}

# Creating these once more only sets the same again.
REPEATABLE = {
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:efs/backupPolicy:BackupPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketVersioning:BucketVersioning",
}


def _named(items: list[dict[str, Any]], field: str, wanted: Any, id_: str) -> str | None:
    return next((str(item[id_]) for item in items if item.get(field) == wanted), None)


def _tagged(items: list[dict[str, Any]], inputs: Inputs, id_: str) -> str | None:
    name = {"Key": "Name", "Value": name_of(inputs)}
    return next((str(item[id_]) for item in items if name in item.get("Tags", ())), None)


def _zone(of: ClientOf, inputs: Inputs) -> str | None:
    zones = of("route53").list_hosted_zones_by_name(DNSName=inputs["name"])["HostedZones"]
    found = _named(zones, "Name", f"{inputs['name'].rstrip('.')}.", "Id")
    return found and found.rpartition("/")[2]


# Type → its id in the cloud, or None.
FINDERS: dict[str, Callable[[ClientOf, Inputs], str | None]] = {
    "aws:s3/bucket:Bucket": lambda of, i: _named(of("s3").list_buckets()["Buckets"], "Name", i.get("bucket"), "Name"),
    "aws:kms/alias:Alias": lambda of, i: _named(
        of("kms").list_aliases()["Aliases"], "AliasName", i.get("name"), "AliasName"
    ),
    "aws:efs/fileSystem:FileSystem": lambda of, i: _tagged(
        of("efs").describe_file_systems()["FileSystems"], i, "FileSystemId"
    ),
    "aws:efs/accessPoint:AccessPoint": lambda of, i: _tagged(
        of("efs").describe_access_points(FileSystemId=i["fileSystemId"])["AccessPoints"], i, "AccessPointId"
    ),
    "aws:efs/mountTarget:MountTarget": lambda of, i: _named(
        of("efs").describe_mount_targets(FileSystemId=i["fileSystemId"])["MountTargets"],
        "SubnetId",
        i["subnetId"],
        "MountTargetId",
    ),
    "aws:route53/zone:Zone": _zone,
    "aws:iam/role:Role": lambda of, i: of("iam").get_role(RoleName=i["name"])["Role"]["RoleName"],
    "aws:iam/instanceProfile:InstanceProfile": lambda of, i: of("iam").get_instance_profile(
        InstanceProfileName=i["name"]
    )["InstanceProfile"]["InstanceProfileName"],
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


# Type → how to take away a link that may have been made.
UNDOERS: dict[str, Callable[[ClientOf, Inputs], object]] = {
    "aws:ec2/route:Route": lambda of, i: of("ec2").delete_route(
        RouteTableId=i["routeTableId"], DestinationCidrBlock=i["destinationCidrBlock"]
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _disassociate,
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
        prefix, name = EC2_IDS.get(type_), name_of(inputs)
        if prefix and name:
            tags = of("ec2").describe_tags(Filters=[{"Name": "value", "Values": [name]}])["Tags"]
            ids = [tag["ResourceId"] for tag in tags if tag["Key"] == "Name"]
            return next((id_ for id_ in ids if id_.rpartition("-")[0] == prefix), None)
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


def clients(region: str, account: str | None) -> ClientOf:
    """boto3 clients of one region, with the user's own credentials; in the local cloud those are dummies."""
    made: dict[str, Any] = {}

    def of(service: str) -> Any:
        if service not in made:
            made[service] = boto3.client(service, region_name=region)
            if account:  # the local cloud is many accounts at once, and this names one
                made[service].meta.events.register("before-send.*", lambda request, **_: mark(request, account))
        return made[service]

    return of


def mark(request: Any, account: str) -> None:
    request.headers["x-moto-account-id"] = account

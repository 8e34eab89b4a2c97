"""What machines take when they boot, and where they stand: volumes, network interfaces, placement groups."""

from typing import Any

from ..kinds import ID, TAGS, Call, Change, Kind, Out, P, Tagging, props, replaces, same_paths
from .ec2 import TAGGING, TAGGING_APART

VOLUME = Kind(
    service="ec2",
    create=Call(
        "create_volume",
        {
            **props("availabilityZone", "size", "iops", "throughput", "encrypted", "kmsKeyId", "snapshotId"),
            "VolumeType": P("type"),
        },
        "VolumeId",
    ),
    read=Call("describe_volumes", {"VolumeIds": [ID]}, "Volumes[?State!='deleting' && State!='deleted'] | [0]"),
    delete=(Call("delete_volume", {"VolumeId": ID}),),
    outputs={
        **same_paths("availabilityZone", "size", "iops", "throughput", "encrypted", "kmsKeyId", "snapshotId"),
        "type": "VolumeType",
        "createTime": lambda found: found.answer["CreateTime"].isoformat(),
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:volume/{found.id}",
    },
    replace=replaces("availabilityZone", "encrypted", "kmsKeyId", "snapshotId"),
    changes=(
        Change(
            ("size", "type", "iops", "throughput"),
            (
                Call(
                    "modify_volume",
                    {"VolumeId": ID, **props("size", "iops", "throughput"), "VolumeType": P("type")},
                ),
            ),
        ),
    ),
    tagging=TAGGING,
    missing=("InvalidVolume.NotFound",),
)


def _addresses(addresses: list[str]) -> list[dict[str, Any]]:
    return [{"PrivateIpAddress": address, "Primary": not n} for n, address in enumerate(addresses)]


def _modify(parameter: str, name: str) -> Call:
    return Call("modify_network_interface_attribute", {"NetworkInterfaceId": ID, parameter: {"Value": P(name)}})


INTERFACE = Kind(
    service="ec2",
    create=Call(
        "create_network_interface",
        {
            **props("subnetId", "description"),
            "Groups": P("securityGroups"),
            "PrivateIpAddresses": P("privateIps", convert=_addresses),
        },
        "NetworkInterface.NetworkInterfaceId",
    ),
    read=Call("describe_network_interfaces", {"NetworkInterfaceIds": [ID]}, "NetworkInterfaces[0]"),
    # The provider, too, takes it from the machine that the state knows to hold it.
    delete=(
        Call(
            "detach_network_interface",
            {"AttachmentId": P("attachments", convert=lambda attachment: attachment[0]["attachmentId"]), "Force": True},
            when="attachments",
        ),
        Call("delete_network_interface", {"NetworkInterfaceId": ID}),
    ),
    outputs={
        **same_paths("subnetId", "description", "sourceDestCheck", "macAddress", "ownerId", "interfaceType"),
        "privateIp": "PrivateIpAddress",
        "privateIps": "PrivateIpAddresses[].PrivateIpAddress",
        "privateDnsName": "PrivateDnsName",
        "securityGroups": "Groups[].GroupId",
        "attachments": lambda found: [
            {
                "attachmentId": attachment["AttachmentId"],
                "instance": attachment["InstanceId"],
                "deviceIndex": attachment["DeviceIndex"],
            }
            for attachment in [found.answer.get("Attachment")]
            if attachment and attachment.get("InstanceId")
        ],
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:network-interface/{found.id}",
    },
    # Addresses beside the first can change in place; no stack of ours has any.
    replace=replaces("subnetId", "privateIps"),
    changes=(
        Change(("sourceDestCheck",), (_modify("SourceDestCheck", "sourceDestCheck"),), on_create=True),
        Change(("description",), (_modify("Description", "description"),)),
        Change(
            ("securityGroups",),
            (
                Call(
                    "modify_network_interface_attribute",
                    {"NetworkInterfaceId": ID, "Groups": P("securityGroups")},
                ),
            ),
        ),
    ),
    tagging=TAGGING_APART,  # the description calls them TagSet
    missing=("InvalidNetworkInterfaceID.NotFound", "InvalidAttachmentID.NotFound"),
)


def _specification(tags: dict[str, str]) -> list[dict[str, Any]]:
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    return [{"ResourceType": "placement-group", "Tags": pairs}]


PLACEMENT_GROUP = Kind(
    service="ec2",
    create=Call(
        "create_placement_group",
        {
            "GroupName": P("name"),
            **props("strategy", "partitionCount", "spreadLevel"),
            "TagSpecifications": P("tags", convert=_specification),
        },
        "PlacementGroup.GroupName",
    ),
    read=Call("describe_placement_groups", {"GroupNames": [ID]}, "PlacementGroups[?State=='available'] | [0]"),
    delete=(Call("delete_placement_group", {"GroupName": ID}),),
    outputs={
        **same_paths("strategy", "partitionCount", "spreadLevel"),
        "name": "GroupName",
        "placementGroupId": "GroupId",
        "arn": "GroupArn",
    },
    replace=replaces("name", "strategy", "partitionCount", "spreadLevel"),
    autoname="name",
    # Tags go by the group's id, which is known as soon as there is a state; until then they come with the creation.
    tagging=Tagging(
        add=Call("create_tags", {"Resources": [Out("placementGroupId")], "Tags": TAGS}, when="placementGroupId"),
        remove=Call("delete_tags", {"Resources": [Out("placementGroupId")], "Tags": TAGS}),
    ),
    missing=("InvalidPlacementGroup.Unknown",),
)

KINDS = {
    "aws:ebs/volume:Volume": VOLUME,
    "aws:ec2/networkInterface:NetworkInterface": INTERFACE,
    "aws:ec2/placementGroup:PlacementGroup": PLACEMENT_GROUP,
}

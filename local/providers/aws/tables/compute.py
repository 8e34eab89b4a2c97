"""Launch templates, with what machines of ours ask for; any other part of one is refused."""

from typing import Any

from ..kinds import ID, Call, Change, Kind, P, props, replaces
from .ec2 import TAGGING_APART
from .parts import Given, Part, Parts, flags, found, plain

_NESTED: dict[str, Parts] = {
    "metadataOptions": plain(
        "httpEndpoint", "httpTokens", "httpPutResponseHopLimit", "httpProtocolIpv6", "instanceMetadataTags"
    ),
    "iamInstanceProfile": plain("name", "arn"),
    "blockDeviceMappings": {
        **plain("deviceName", "noDevice"),
        "ebs": Part(
            "Ebs",
            parts={
                **plain("iops", "kmsKeyId", "snapshotId", "throughput", "volumeSize", "volumeType"),
                **flags("deleteOnTermination", "encrypted"),
            },
        ),
    },
    "networkInterfaces": {
        **plain("description", "deviceIndex", "networkInterfaceId", "privateIpAddress", "subnetId"),
        **plain("networkCardIndex", "interfaceType"),
        **flags("associatePublicIpAddress", "deleteOnTermination"),
        "securityGroups": Part("Groups"),
    },
    "monitoring": plain("enabled"),
    "placement": plain("groupName", "tenancy"),
    "instanceMarketOptions": {
        **plain("marketType"),
        "spotOptions": Part("SpotOptions", parts=plain("instanceInterruptionBehavior", "maxPrice", "spotInstanceType")),
    },
}
_PLAIN = ("imageId", "instanceType", "keyName", "userData", "disableApiTermination")
_SHUTDOWN = "instanceInitiatedShutdownBehavior"


def _tag_specifications(specifications: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "ResourceType": specification["resourceType"],
            "Tags": [{"Key": key, "Value": value} for key, value in specification.get("tags", {}).items()],
        }
        for specification in specifications
    ]


def _nested(name: str) -> Any:
    part = name[0].upper() + name[1:]
    return lambda read: found(_NESTED[name], read.answer["data"].get(part))


_DATA = {
    **props(*_PLAIN, _SHUTDOWN),
    **{name[0].upper() + name[1:]: P(name, convert=Given(parts)) for name, parts in _NESTED.items()},
    "EbsOptimized": P("ebsOptimized", convert=lambda text: text == "true"),
    "SecurityGroupIds": P("vpcSecurityGroupIds"),
    "TagSpecifications": P("tagSpecifications", convert=_tag_specifications),
}
_NAMES = (*_PLAIN, _SHUTDOWN, *_NESTED, "ebsOptimized", "vpcSecurityGroupIds", "tagSpecifications", "description")

TEMPLATE = Kind(
    service="ec2",
    create=Call(
        "create_launch_template",
        {"LaunchTemplateName": P("name"), "VersionDescription": P("description"), "LaunchTemplateData": _DATA},
        "LaunchTemplate.LaunchTemplateId",
    ),
    read=Call("describe_launch_templates", {"LaunchTemplateIds": [ID]}, "LaunchTemplates[0]"),
    more={
        "latest": Call(
            "describe_launch_template_versions",
            {"LaunchTemplateId": ID, "Versions": ["$Latest"]},
            "LaunchTemplateVersions[0]",
        ),
        "data": Call(
            "describe_launch_template_versions",
            {"LaunchTemplateId": ID, "Versions": ["$Latest"]},
            "LaunchTemplateVersions[0].LaunchTemplateData",
        ),
    },
    delete=(Call("delete_launch_template", {"LaunchTemplateId": ID}),),
    outputs={
        **{name: f"data.{name[0].upper()}{name[1:]}" for name in (*_PLAIN, _SHUTDOWN)},
        **{name: _nested(name) for name in _NESTED},
        "name": "LaunchTemplateName",
        "latestVersion": "LatestVersionNumber",
        "defaultVersion": "DefaultVersionNumber",
        "description": "latest.VersionDescription",
        "ebsOptimized": lambda read: _text(read.answer["data"].get("EbsOptimized")),
        "vpcSecurityGroupIds": "data.SecurityGroupIds",
        "tagSpecifications": lambda read: [
            {"resourceType": spec["ResourceType"], "tags": {tag["Key"]: tag["Value"] for tag in spec["Tags"]}}
            for spec in read.answer["data"].get("TagSpecifications", [])
        ],
        "arn": lambda read: f"arn:aws:ec2:{read.region}:{read.account}:launch-template/{read.id}",
    },
    replace=replaces("name"),
    changes=(
        Change(
            _NAMES,
            (
                Call(
                    "create_launch_template_version",
                    {"LaunchTemplateId": ID, "VersionDescription": P("description"), "LaunchTemplateData": _DATA},
                ),
            ),
        ),
        Change(
            (*_NAMES, "updateDefaultVersion"),
            (
                Call(
                    "modify_launch_template",
                    {"LaunchTemplateId": ID, "DefaultVersion": "$Latest"},
                    when="updateDefaultVersion",
                ),
            ),
        ),
        Change(
            ("defaultVersion",),
            (Call("modify_launch_template", {"LaunchTemplateId": ID, "DefaultVersion": P("defaultVersion", 1, str)}),),
            on_create=True,
        ),
    ),
    autoname="name",
    tagging=TAGGING_APART,
    missing=("InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException"),
)


def _text(flag: bool | None) -> str | None:  # noqa: FBT001
    return None if flag is None else str(flag).lower()


KINDS = {"aws:ec2/launchTemplate:LaunchTemplate": TEMPLATE}

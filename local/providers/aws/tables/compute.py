"""Launch templates. Instances and scaling groups come with the stacks that use them."""

from ..kinds import ID, Call, Change, Kind, P, props, replaces
from .ec2 import TAGGING_APART

_DATA = {
    **props("imageId", "instanceType", "keyName", "userData"),
    "EbsOptimized": P("ebsOptimized", convert=lambda text: text == "true"),
    "SecurityGroupIds": P("vpcSecurityGroupIds"),
}
_NAMES = ("imageId", "instanceType", "keyName", "userData", "ebsOptimized", "vpcSecurityGroupIds", "description")

TEMPLATE = Kind(
    service="ec2",
    create=Call(
        "create_launch_template",
        {"LaunchTemplateName": P("name"), "VersionDescription": P("description"), "LaunchTemplateData": _DATA},
        "LaunchTemplate.LaunchTemplateId",
    ),
    read=Call("describe_launch_templates", {"LaunchTemplateIds": [ID]}, "LaunchTemplates[0]"),
    more={
        "data": Call(
            "describe_launch_template_versions",
            {"LaunchTemplateId": ID, "Versions": ["$Latest"]},
            "LaunchTemplateVersions[0].LaunchTemplateData",
        )
    },
    delete=(Call("delete_launch_template", {"LaunchTemplateId": ID}),),
    outputs={
        "name": "LaunchTemplateName",
        "latestVersion": "LatestVersionNumber",
        "defaultVersion": "DefaultVersionNumber",
        "imageId": "data.ImageId",
        "instanceType": "data.InstanceType",
        "keyName": "data.KeyName",
        "userData": "data.UserData",
        "vpcSecurityGroupIds": "data.SecurityGroupIds",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:launch-template/{found.id}",
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
    ),
    autoname="name",
    tagging=TAGGING_APART,
    missing=("InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException"),
)

KINDS = {"aws:ec2/launchTemplate:LaunchTemplate": TEMPLATE}

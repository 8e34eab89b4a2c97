"""What uses images in a region of AWS, beside channels: machines, versions of launch templates, launch configurations.

Scaling groups start machines of one of the last two. (DescribeImageReferences would tell, too, and needs rights on
everything that an account has.)
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from fleet.image_names import RESOLVE

LIVE = ["pending", "running", "shutting-down", "stopping", "stopped"]
Client = Callable[[str], Any]


def users(of: Client) -> Mapping[str, list[str]]:
    """Id → what uses it. Raises ClientError."""
    found: dict[str, list[str]] = {}
    known: dict[str, str] = {}
    for image, user in [*_machines(of("ec2")), *_templates(of("ec2")), *_groups(of("autoscaling"))]:
        if image.startswith(RESOLVE) and image not in known:
            known[image] = _resolved(of("ssm"), image)
        found.setdefault(known.get(image, image), []).append(user)
    return found


def _machines(ec2: Any) -> Iterator[tuple[str, str]]:
    filters = [{"Name": "instance-state-name", "Values": LIVE}]
    for page in ec2.get_paginator("describe_instances").paginate(Filters=filters):
        for reservation in page["Reservations"]:
            for one in reservation["Instances"]:
                yield one["ImageId"], f"machine {one['InstanceId']}"


def _templates(ec2: Any) -> Iterator[tuple[str, str]]:
    for page in ec2.get_paginator("describe_launch_templates").paginate():
        for template in page["LaunchTemplates"]:
            versions = ec2.get_paginator("describe_launch_template_versions")
            for batch in versions.paginate(LaunchTemplateId=template["LaunchTemplateId"]):
                for one in batch["LaunchTemplateVersions"]:
                    if image := one["LaunchTemplateData"].get("ImageId"):
                        yield image, f"launch template {template['LaunchTemplateName']}, version {one['VersionNumber']}"


def _groups(scaling: Any) -> Iterator[tuple[str, str]]:
    for page in scaling.get_paginator("describe_launch_configurations").paginate():
        for one in page["LaunchConfigurations"]:
            yield one["ImageId"], f"launch configuration {one['LaunchConfigurationName']}"


def _resolved(ssm: Any, image: str) -> str:
    """What a parameter says that a template names; the name itself where there is none."""
    try:
        return str(ssm.get_parameter(Name=image.removeprefix(RESOLVE))["Parameter"]["Value"])
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("ParameterNotFound", "ParameterVersionNotFound"):
            raise
        return image

"""A machine that is always one, on AWS: the bundle that its signature names, and the group that keeps it alive.

Control planes' machines and servers for laptops are such: what comes after one takes over its address and its bundle.
"""

import base64
import json
from typing import Any, NamedTuple

import pulumi
import pulumi_aws as aws

from components.tags import KUBERNETES, Owner

from .. import publishing
from ..publishing import Signed
from .roles import SSM_POLICY, trust


class Store(NamedTuple):
    """Where a bundle lies: a bucket, and a secret of the bundle's prefix. `tags` are the secret's."""

    bucket: str
    key_arn: pulumi.Input[str]
    owner: Owner
    tags: dict[str, str]


def publish(
    name: str, given: Signed, store: Store, child: pulumi.ResourceOptions, protected: pulumi.ResourceOptions
) -> aws.s3.BucketObjectv2:
    """`protected` are the secret's options. Gives the manifest's object."""
    secret = aws.secretsmanager.Secret(
        name,
        name=given.prefix,
        description=f"Key material of {given.title}",
        kms_key_id=store.key_arn,
        # Its keys are made anew, or lie in `recovery`; a name that waits for its end would keep the next one from
        # coming up.
        recovery_window_in_days=0,
        tags=store.tags,
        opts=protected,
    )
    current = aws.secretsmanager.SecretVersion(
        name, secret_id=secret.id, secret_string=given.keys.apply(json.dumps), opts=child
    )

    def lay(
        what: str, key: pulumi.Output[str], content: pulumi.Output[str], opts: pulumi.ResourceOptions
    ) -> aws.s3.BucketObjectv2:
        tags = store.owner.tags(f"{name}-{what}")
        return bucket_object(f"{name}-{what}", store.bucket, key, content, store.key_arn, tags, opts)

    return publishing.publish(given, current.version_id, lay, child)


def bucket_object(
    name: str,
    bucket: str,
    key: pulumi.Output[str],
    content: pulumi.Output[str],
    key_arn: pulumi.Input[str],
    tags: dict[str, str],
    opts: pulumi.ResourceOptions,
) -> aws.s3.BucketObjectv2:
    return aws.s3.BucketObjectv2(
        name,
        bucket=bucket,
        key=key,
        content=content,
        content_type="application/json",
        server_side_encryption="aws:kms",
        kms_key_id=key_arn,
        tags=tags,
        opts=opts,
    )


class Role(NamedTuple):
    """What a machine may do. `named` are the role's and the profile's own names; `ssm`: Systems Manager reaches it."""

    named: tuple[str, str]
    machine: str
    policy: pulumi.Output[str]
    ssm: bool
    tags: dict[str, str]


def role(
    name: str, wanted: Role, child: pulumi.ResourceOptions
) -> tuple[list[pulumi.Resource], aws.iam.InstanceProfile]:
    """Gives what must be there before the machine starts, and what it starts with."""
    made = aws.iam.Role(
        name,
        name=wanted.named[0],
        assume_role_policy=json.dumps(trust()),
        description=f"What {wanted.machine} may do",
        tags=wanted.tags,
        opts=child,
    )
    granted: list[pulumi.Resource] = [
        aws.iam.RolePolicy(name, role=made.name, name="machine", policy=wanted.policy, opts=child)
    ]
    if wanted.ssm:
        granted.append(aws.iam.RolePolicyAttachment(name, role=made.name, policy_arn=SSM_POLICY, opts=child))
    return granted, aws.iam.InstanceProfile(name, name=wanted.named[1], role=made.name, tags=wanted.tags, opts=child)


class One(NamedTuple):
    """What a machine is started from. `named` are the template's and the group's own names.

    `image_id` is looked up at each launch: a promoted image comes with the next machine.
    """

    named: tuple[str, str]
    zone: str
    image_id: str
    kubernetes: str
    instance_type: str
    profile: aws.iam.InstanceProfile
    interface: aws.ec2.NetworkInterface
    root_gib: int
    script: pulumi.Output[str]
    tags: dict[str, str]


def keep_alive(
    name: str, one: One, child: pulumi.ResourceOptions, ready: list[pulumi.Resource]
) -> aws.autoscaling.Group:
    """A scaling group of one, which starts a machine once all of `ready` are there."""
    template = _template(name, one, child)
    tags: list[Any] = [{"key": key, "value": value, "propagate_at_launch": False} for key, value in one.tags.items()]
    return aws.autoscaling.Group(
        name,
        name=one.named[1],
        min_size=1,
        max_size=1,
        desired_capacity=1,
        # Not by subnet: the template names an interface, and Auto Scaling takes but one of the two.
        availability_zones=[one.zone],
        # Never a number: then the group would change with the template.
        launch_template={"id": template.id, "version": "$Latest"},
        health_check_type="EC2",
        # Whether it does its work is asked elsewhere: a machine that runs says nothing.
        wait_for_capacity_timeout="0",
        tags=tags,
        opts=pulumi.ResourceOptions(parent=child.parent, depends_on=ready),
    )


def _template(name: str, one: One, child: pulumi.ResourceOptions) -> aws.ec2.LaunchTemplate:
    return aws.ec2.LaunchTemplate(
        name,
        name=one.named[0],
        image_id=one.image_id,
        instance_type=one.instance_type,
        iam_instance_profile={"name": one.profile.name},
        metadata_options={"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1},
        network_interfaces=[
            {"device_index": 0, "network_interface_id": one.interface.id, "delete_on_termination": "false"}
        ],
        # With the account's own key for disks: Auto Scaling's role may not use the region's.
        block_device_mappings=[
            {
                "device_name": "/dev/sda1",
                "ebs": {
                    "encrypted": "true",
                    "volume_size": one.root_gib,
                    "volume_type": "gp3",
                    "delete_on_termination": "true",
                },
            }
        ],
        user_data=one.script.apply(lambda text: base64.b64encode(text.encode()).decode()),
        tag_specifications=[
            # What runs is asked of the cloud, also while a machine does not answer.
            {"resource_type": "instance", "tags": {**one.tags, KUBERNETES: one.kubernetes}},
            {"resource_type": "volume", "tags": one.tags},
        ],
        update_default_version=True,
        tags=one.tags,
        opts=child,
    )

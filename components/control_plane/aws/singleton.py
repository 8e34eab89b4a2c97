"""A machine that is always one, on AWS: the bundle that its signature names, and the group that keeps it alive.

Control planes' machines and servers for laptops are such: what comes after one takes over its address and its bundle.
"""

import base64
import json
from typing import Any, NamedTuple

import pulumi
import pulumi_aws as aws

from components.boot.user_data import signed_object
from components.tags import KUBERNETES, Owner

from ..bundle import Bundle, digests, manifest, version


class Published(NamedTuple):
    """Where a bundle lies. `title` is the machine's in descriptions; `tags` are the secret's.

    `files` are made without private keys, so that no mistake can put one into the bucket; `signing` is the PEM of what
    signs the manifest.
    """

    title: str
    bucket: str
    prefix: str
    key_arn: pulumi.Input[str]
    owner: Owner
    tags: dict[str, str]
    files: pulumi.Output[dict[str, str]]
    keys: pulumi.Output[dict[str, str]]
    signing: pulumi.Input[str]


def publish(
    name: str, given: Published, child: pulumi.ResourceOptions, kept: pulumi.ResourceOptions
) -> aws.s3.BucketObjectv2:
    """Puts files into the bucket and keys into the secret, and last the signed manifest that names both.

    `kept` are the secret's options. Gives the manifest's object.
    """
    told = pulumi.Output.all(files=given.files, keys=given.keys).apply(
        lambda made: digests(Bundle(given.title, made["files"], made["keys"]))
    )
    open_told = pulumi.Output.unsecret(told)
    secret = aws.secretsmanager.Secret(
        name,
        name=given.prefix,
        description=f"Key material of {given.title}",
        kms_key_id=given.key_arn,
        # Its keys are made anew, or lie in `recovery`; a name that waits for its end would keep the next one from
        # coming up.
        recovery_window_in_days=0,
        tags=given.tags,
        opts=kept,
    )
    current = aws.secretsmanager.SecretVersion(
        name, secret_id=secret.id, secret_string=given.keys.apply(json.dumps), opts=child
    )
    body = _object(
        name, "files", open_told.apply(lambda t: f"{version(t)}.json"), given.files.apply(json.dumps), given, child
    )
    text = pulumi.Output.all(open_told, current.version_id).apply(lambda both: manifest(given.prefix, *both))
    signed = pulumi.Output.all(given.signing, text).apply(lambda both: signed_object(*both))
    sealed_text: pulumi.Output[str] = pulumi.Output.unsecret(signed)
    after = pulumi.ResourceOptions(parent=child.parent, depends_on=[body])
    return _object(name, "manifest", "manifest.json", sealed_text, given, after)


def _object(
    whose: str,
    what: str,
    key: pulumi.Input[str],
    content: pulumi.Input[str],
    given: Published,
    opts: pulumi.ResourceOptions,
) -> aws.s3.BucketObjectv2:
    name = f"{whose}-{what}"
    return aws.s3.BucketObjectv2(
        name,
        bucket=given.bucket,
        key=pulumi.Output.concat(given.prefix, "/", key),
        content=content,
        content_type="application/json",
        server_side_encryption="aws:kms",
        kms_key_id=given.key_arn,
        tags=given.owner.tags(name),
        opts=opts,
    )


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

"""A pool on AWS: its role, its bundle, its firewall, its launch template, and the scaling groups that hold machines."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws

from components.control_plane.aws.roles import trust
from components.preview import VERIFY_KEY, known_in_preview, known_key_arn

from .. import user_data
from ..firewall import DESCRIPTION, OWN
from ..names import Group
from ..pool import AnyPool, AnyPoolArgs
from . import template
from .hooks import TERMINATION
from .publishing import AwsPublishing
from .roles import permissions

# What ends healthy machines by itself: which one goes, and when, is for the autoscaler to say, which knows their work.
SUSPENDED = ["AZRebalance"]


class PoolArgs(AnyPoolArgs):
    """`key_arn` is the region's key."""

    network_id: pulumi.Input[str]
    key_arn: pulumi.Input[str]


class Pool(AnyPool):
    """`groups` are scaling groups by zone letter, or one under `all`; `firewall` is the machines' security group."""

    def __init__(self, name: str, args: PoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.args = args
        self.publishing = AwsPublishing(self.fleet, self.spec, args["key_arn"], self)
        self.firewall = self._firewall()
        policy, profile = self._role()
        ready = [policy, self.publish(self.publishing, args)]
        made = self._template(profile)
        self.groups = {group.key: self._group(group, made, ready) for group in self.names.scaling(self.spec.name)}
        self.register_outputs({})

    def _firewall(self) -> aws.ec2.SecurityGroup:
        group = aws.ec2.SecurityGroup(
            "node",
            name=self.names.firewall(self.spec.name),
            description=DESCRIPTION,
            vpc_id=self.args["network_id"],
            tags=self.tags("node"),
            opts=self.child,
        )
        for rule in self.args["rules"]:
            kind = aws.vpc.SecurityGroupIngressRule if rule.direction == "in" else aws.vpc.SecurityGroupEgressRule
            peer = {"referenced_security_group_id": group.id} if rule.peer == OWN else {"cidr_ipv4": rule.peer}
            kind(
                rule.name,
                security_group_id=group.id,
                ip_protocol=rule.protocol,
                from_port=rule.first,
                to_port=rule.last,
                description=rule.why,
                tags=self.tags(rule.name),
                opts=self.child,
                **peer,
            )
        return group

    def _role(self) -> tuple[pulumi.Resource, aws.iam.InstanceProfile]:
        name, tags = self.spec.name, self.tags("node")
        role = aws.iam.Role(
            "node",
            name=self.names.role(name),
            assume_role_policy=json.dumps(trust()),
            description=f"What machines of {name} may do",
            tags=tags,
            opts=self.child,
        )
        assert self.fleet.aws is not None
        key_arn = known_key_arn(self.args["key_arn"], self.spec.place, self.fleet.aws.account_id)
        policy = aws.iam.RolePolicy(
            "node",
            role=role.name,
            name="node",
            policy=key_arn.apply(lambda arn: json.dumps(permissions(self.fleet, self.spec, arn))),
            opts=self.child,
        )
        profile = self.names.profile(name)
        return policy, aws.iam.InstanceProfile("node", name=profile, role=role.name, tags=tags, opts=self.child)

    def _template(self, profile: aws.iam.InstanceProfile) -> aws.ec2.LaunchTemplate:
        known = known_in_preview(self.publishing.verify_key, VERIFY_KEY)
        script = known.apply(lambda verify: user_data.script(self.spec, self.publishing.bucket, verify))
        return aws.ec2.LaunchTemplate(
            "node",
            name=self.names.template(self.spec.name),
            iam_instance_profile={"name": profile.name},
            network_interfaces=template.interfaces(self.spec, self.firewall.id),
            user_data=script,
            update_default_version=True,
            tags=self.tags("node"),
            opts=self.child,
            **template.plain(self.fleet, self.spec, self.tags("node")),
        )

    def _group(self, group: Group, made: aws.ec2.LaunchTemplate, ready: list[pulumi.Resource]) -> aws.autoscaling.Group:
        key, tags = group.key, self.tags(group.key)
        listed: list[Any] = [{"key": key, "value": value, "propagate_at_launch": False} for key, value in tags.items()]
        near = self.names.placement(self.spec.name, key)
        scaling = aws.autoscaling.Group(
            key,
            name=group.name,
            min_size=group.least,
            max_size=group.most,
            vpc_zone_identifiers=[self.args["subnet_ids"][zone] for zone in group.zones],
            placement_group=aws.ec2.PlacementGroup(key, name=near, strategy="cluster", tags=tags, opts=self.child).name
            if near
            else None,
            # Never a number: then the group would change with the template.
            launch_template={"id": made.id, "version": "$Latest"},
            protect_from_scale_in=True,
            capacity_rebalance=False,
            suspended_processes=SUSPENDED,
            health_check_type="EC2",
            # Whether there is capacity is the autoscaler's business.
            wait_for_capacity_timeout="0",
            # Protected machines go with their group alone; who destroys a pool is asked before.
            force_delete=True,
            tags=listed,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=ready, protect=True, ignore_changes=["desiredCapacity"]
            ),
        )
        aws.autoscaling.LifecycleHook(key, autoscaling_group_name=scaling.name, opts=self.child, **TERMINATION)
        return scaling

"""One machine of a control plane on AWS: its address, its role, its bundle, and the group that keeps it alive."""

import json
from typing import Literal, TypedDict

import pulumi
import pulumi_aws as aws

from components.boot.hosts import HostAuthority
from components.boot.user_data import user_data
from components.preview import VERIFY_KEY, known_in_preview, known_key_arn
from components.tags import Owner
from fleet.buckets import bucket_name
from fleet.image_names import RESOLVE, parameter
from fleet.model import Fleet

from ..authority import Authority
from ..contents import contents
from ..machines import ClusterSpec, Machine
from ..profiles import Volume
from .roles import SSM_POLICY, permissions, trust
from .singleton import One, Published, keep_alive, publish

ROOT_GIB = 50


class MachineArgs(TypedDict):
    """`name` of the component is the machine's without its cluster's; the rest is of the cluster or its region.

    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    `hosts` vouches for the machine to people's clients, where certificates let them in.
    """

    fleet: Fleet
    spec: ClusterSpec
    machine: Machine
    owner: Owner
    authority: Authority
    subnet_id: pulumi.Input[str]
    group_id: pulumi.Input[str]
    key_arn: pulumi.Input[str]
    copies_key_arn: pulumi.Input[str] | None
    people_authority: pulumi.Input[str]
    hosts: HostAuthority | None


class ControlPlaneMachine(pulumi.ComponentResource):
    """A scaling group of one, whose machines take over address, disks and bundle from the one before.

    Only its group ever starts or ends a machine, and only when told: neither a new template nor a new bundle does.
    """

    def __init__(self, name: str, args: MachineArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:Machine", name, None, opts)
        self.name, self.args = name, args
        self.spec, self.machine = args["spec"], args["machine"]
        self.bucket, self.prefix = bucket_name(args["fleet"], self.spec.region), self.spec.prefix(self.machine.name)
        self.child = pulumi.ResourceOptions(parent=self)
        self.kept = pulumi.ResourceOptions(parent=self, protect=True)
        self.interface = aws.ec2.NetworkInterface(
            name,
            subnet_id=args["subnet_id"],
            private_ips=[self.machine.address],
            security_groups=[args["group_id"]],
            description=f"The address of {self.machine.name}",
            tags=self._tags(name),
            opts=self.child,
        )
        granted, profile = self._role()
        ready = [*granted, self._publish(), *self._disks()]
        self.group = keep_alive(name, self._one(profile), self.child, ready)
        self.register_outputs({})

    def _tags(self, name: str) -> dict[str, str]:
        whose = {"landbridge:cluster": self.spec.name, "landbridge:machine": self.machine.name}
        return {**self.args["owner"].tags(name), **whose}

    def _role(self) -> tuple[list[pulumi.Resource], aws.iam.InstanceProfile]:
        fleet, name = self.args["fleet"], self.name
        assert fleet.aws is not None
        tags = self._tags(name)
        role = aws.iam.Role(
            name,
            name=self._named(64, "in the account"),
            assume_role_policy=json.dumps(trust()),
            description=f"What {self.machine.name} may do",
            tags=tags,
            opts=self.child,
        )
        keys = [known_key_arn(self.args["key_arn"], self.spec.region, fleet.aws.account_id)]
        if self.spec.copies and self.args["copies_key_arn"] is not None:
            keys.append(known_key_arn(self.args["copies_key_arn"], self.spec.copies.region, fleet.aws.account_id))
        policy = aws.iam.RolePolicy(
            name,
            role=role.name,
            name="machine",
            policy=pulumi.Output.all(*keys).apply(
                lambda arns: json.dumps(permissions(fleet, self.spec, self.machine, *arns))
            ),
            opts=self.child,
        )
        granted: list[pulumi.Resource] = [policy]
        if fleet.access == "ssm":
            granted.append(aws.iam.RolePolicyAttachment(name, role=role.name, policy_arn=SSM_POLICY, opts=self.child))
        return granted, aws.iam.InstanceProfile(
            name, name=self._named(128, "in the account"), role=role.name, tags=tags, opts=self.child
        )

    def _publish(self) -> aws.s3.BucketObjectv2:
        args, authority = self.args, self.args["authority"]
        made = contents(
            args["fleet"], self.spec, self.machine, authority, args["people_authority"], args["hosts"], self
        )
        published = Published(
            title=self.machine.name,
            bucket=self.bucket,
            prefix=self.prefix,
            key_arn=self.args["key_arn"],
            owner=self.args["owner"],
            tags=self._tags(self.name),
            files=made.files,
            keys=made.keys,
            signing=authority.signing.private,
        )
        return publish(self.name, published, self.child, self.kept)

    def _disks(self) -> list[pulumi.Resource]:
        if self.machine.role != "etcd":
            return []
        profile = self.spec.profile
        return [self._disk(ring, volume) for ring, volume in (("main", profile.main), ("events", profile.events))]

    def _disk(self, ring: str, volume: Volume) -> aws.ebs.Volume:
        name = f"{self.name}-{ring}"
        return aws.ebs.Volume(
            name,
            availability_zone=f"{self.spec.region}{self.machine.zone}",
            type=volume.kind,
            size=volume.size_gib,
            iops=volume.iops,
            throughput=volume.throughput_mib or None,
            encrypted=True,
            kms_key_id=self.args["key_arn"],
            # The machine finds its disks by these two.
            tags={**self._tags(name), "landbridge:disk": f"etcd-{ring}"},
            # A destroyed cluster's data stay until somebody deletes them by hand.
            opts=pulumi.ResourceOptions(parent=self, protect=True, retain_on_delete=True),
        )

    def _one(self, profile: aws.iam.InstanceProfile) -> One:
        types = {"etcd": self.spec.profile.etcd_type, "api": self.spec.profile.api_type}
        verify_key = known_in_preview(self.args["authority"].verify_key, VERIFY_KEY)
        return One(
            named=(self._named(128), self._named(255)),
            zone=f"{self.spec.region}{self.machine.zone}",
            image_id=RESOLVE + parameter(self.args["fleet"].fleet, self.spec.kubernetes),
            kubernetes=self.spec.kubernetes,
            instance_type=types[self.machine.role],
            profile=profile,
            interface=self.interface,
            root_gib=ROOT_GIB,
            script=verify_key.apply(lambda key: user_data(self.spec.region, self.bucket, self.prefix, key)),
            tags=self._tags(self.name),
        )

    def _named(self, most: int, unique: Literal["in the region", "in the account"] = "in the region") -> str:
        """Names of IAM have no region: rebuilt in another one, the cluster would meet those of its former life."""
        region = f"{self.spec.region}-" if unique == "in the account" else ""
        return self.args["owner"].name(f"{region}{self.name}", most)

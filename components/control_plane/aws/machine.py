"""One machine of a control plane on AWS: its address, its role, its bundle, and the group that keeps it alive."""

import json
from typing import Literal

import pulumi
import pulumi_aws as aws

from components.boot.user_data import user_data
from components.preview import VERIFY_KEY, known_in_preview, known_key_arn
from fleet.image_names import RESOLVE, parameter

from ..machine import AnyMachine, AnyMachineArgs
from ..profiles import Volume
from .roles import permissions
from .singleton import One, Role, Store, keep_alive, publish, role

ROOT_GIB = 50


class MachineArgs(AnyMachineArgs):
    """`copies_key_arn` is None where no other region keeps copies."""

    key_arn: pulumi.Input[str]
    copies_key_arn: pulumi.Input[str] | None


class ControlPlaneMachine(AnyMachine):
    """A scaling group of one, whose machines take over address, disks and bundle from the one before.

    Only its group ever starts or ends a machine, and only when told: neither a new template nor a new bundle does.
    """

    def __init__(self, name: str, args: MachineArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.key_arn, self.copies_key_arn = args["key_arn"], args["copies_key_arn"]
        self.interface = aws.ec2.NetworkInterface(
            name,
            subnet_id=args["subnet_id"],
            private_ips=[self.of.address],
            security_groups=[args["group_id"]],
            description=f"The address of {self.of.name}",
            tags=self.tags(name),
            opts=self.child,
        )
        store = Store(self.spec.bucket, self.key_arn, self.owner, self.tags(name))
        bundle = self.signed(args["people_authority"], args["hosts"])
        granted, profile = self._role()
        ready = [*granted, publish(name, bundle, store, self.child, self.protected), *self._disks()]
        self.group = keep_alive(name, self._one(profile), self.child, ready)
        self.register_outputs({})

    def _role(self) -> tuple[list[pulumi.Resource], aws.iam.InstanceProfile]:
        fleet, spec = self.fleet, self.spec
        assert fleet.aws is not None
        keys = [known_key_arn(self.key_arn, spec.region, fleet.aws.account_id)]
        if spec.copies and self.copies_key_arn is not None:
            keys.append(known_key_arn(self.copies_key_arn, spec.copies.region, fleet.aws.account_id))
        wanted = Role(
            named=(self._named(64, "in the account"), self._named(128, "in the account")),
            machine=self.of.name,
            policy=pulumi.Output.all(*keys).apply(lambda arns: json.dumps(permissions(fleet, spec, self.of, *arns))),
            ssm=fleet.access == "ssm",
            tags=self.tags(self.name),
        )
        return role(self.name, wanted, self.child)

    def _disks(self) -> list[pulumi.Resource]:
        return [self._disk(ring, volume) for ring, volume in self.volumes.items()]

    def _disk(self, ring: str, volume: Volume) -> aws.ebs.Volume:
        name = f"{self.name}-{ring}"
        return aws.ebs.Volume(
            name,
            availability_zone=f"{self.spec.region}{self.of.zone}",
            type=volume.kind,
            size=volume.size_gib,
            iops=volume.iops,
            throughput=volume.throughput_mib or None,
            encrypted=True,
            kms_key_id=self.key_arn,
            # The machine finds its disks by these two.
            tags={**self.tags(name), "landbridge:disk": f"etcd-{ring}"},
            # A destroyed cluster's data stay until somebody deletes them by hand.
            opts=pulumi.ResourceOptions(parent=self, protect=True, retain_on_delete=True),
        )

    def _one(self, profile: aws.iam.InstanceProfile) -> One:
        types = {"etcd": self.spec.profile.etcd_type, "api": self.spec.profile.api_type}
        verify_key = known_in_preview(self.authority.verify_key, VERIFY_KEY)
        return One(
            named=(self._named(128), self._named(255)),
            zone=f"{self.spec.region}{self.of.zone}",
            image_id=RESOLVE + parameter(self.fleet.fleet, self.spec.kubernetes),
            kubernetes=self.spec.kubernetes,
            instance_type=types[self.of.role],
            profile=profile,
            interface=self.interface,
            root_gib=ROOT_GIB,
            script=verify_key.apply(lambda key: user_data(self.spec.region, self.spec.bucket, self.prefix, key)),
            tags=self.tags(self.name),
        )

    def _named(self, most: int, unique: Literal["in the region", "in the account"] = "in the region") -> str:
        """Names of IAM have no region: rebuilt in another one, the cluster would meet those of its former life."""
        region = f"{self.spec.region}-" if unique == "in the account" else ""
        return self.owner.name(f"{region}{self.name}", most)

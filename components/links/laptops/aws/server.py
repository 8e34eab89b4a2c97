"""One server for laptops on AWS: its addresses, its role, its bundle, and the group that keeps it alive."""

import json
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.boot.hosts import HostAuthority
from components.boot.user_data import user_data
from components.control_plane.aws.roles import SSM_POLICY, trust
from components.control_plane.aws.singleton import One, Published, keep_alive, publish
from components.pools.hardware import ROOT_GIB
from components.pools.spec import LAPTOPS
from components.preview import VERIFY_KEY, known_in_preview, known_key_arn
from components.tags import Owner
from fleet.image_names import RESOLVE, parameter
from fleet.model import Fleet

from ..contents import contents
from ..nodes import INSTANCE_TYPES, ROLE, group
from ..spec import LaptopsSpec, Server
from .authority import LaptopsAuthority
from .roles import permissions


class LaptopServerArgs(TypedDict):
    """`subnet_id` is a public subnet's of the server's zone, `group_id` the security group of all servers.

    `cluster_authority` is PEM: whom the server trusts as a node.
    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    `hosts` vouches for the server to people's clients, where certificates let them in.
    """

    fleet: Fleet
    spec: LaptopsSpec
    server: Server
    owner: Owner
    authority: LaptopsAuthority
    subnet_id: pulumi.Input[str]
    group_id: pulumi.Input[str]
    key_arn: pulumi.Input[str]
    cluster_authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]
    hosts: HostAuthority | None


class LaptopServer(pulumi.ComponentResource):
    """A scaling group of one, whose machines take over interface, public address and bundle from the one before.

    `interface` is where routes to its laptops lead; `address` the public one, which people's profiles hold.
    """

    def __init__(self, name: str, args: LaptopServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:LaptopServer", name, None, opts)
        self.name, self.args, self.spec, self.server = name, args, args["spec"], args["server"]
        self.prefix = self.spec.prefix(self.server.name)
        self.child = pulumi.ResourceOptions(parent=self)
        self.interface = aws.ec2.NetworkInterface(
            name,
            subnet_id=args["subnet_id"],
            security_groups=[args["group_id"]],
            # What it forwards is of its laptops' addresses, not of its own.
            source_dest_check=False,
            description=f"Laptops come in at {self.server.host}",
            tags=self._tags(name),
            opts=self.child,
        )
        # It outlives machines: every profile that was given out names it.
        public = aws.ec2.Eip(name, domain="vpc", tags=self._tags(name), opts=self.child)
        self.address: pulumi.Output[str] = public.public_ip
        reachable = aws.ec2.EipAssociation(
            name, allocation_id=public.id, network_interface_id=self.interface.id, opts=self.child
        )
        granted, profile = self._role()
        ready = [reachable, *granted, self._publish()]
        self.group = keep_alive(name, self._one(profile), self.child, ready)
        self.register_outputs({})

    def _tags(self, name: str) -> dict[str, str]:
        return {**self.args["owner"].tags(name), "landbridge:machine": self.spec.machine(self.server)}

    def _role(self) -> tuple[list[pulumi.Resource], aws.iam.InstanceProfile]:
        fleet, name, owner = self.args["fleet"], self.name, self.args["owner"]
        assert fleet.aws is not None
        role = aws.iam.Role(
            name,
            name=owner.name(name, ROLE),
            assume_role_policy=json.dumps(trust()),
            description=f"What {self.spec.machine(self.server)} may do",
            tags=self._tags(name),
            opts=self.child,
        )
        policy = aws.iam.RolePolicy(
            name,
            role=role.name,
            name="machine",
            policy=known_key_arn(self.args["key_arn"], self.spec.region, fleet.aws.account_id).apply(
                lambda arn: json.dumps(permissions(fleet, self.spec, self.server, arn))
            ),
            opts=self.child,
        )
        granted: list[pulumi.Resource] = [policy]
        if fleet.access == "ssm":
            granted.append(aws.iam.RolePolicyAttachment(name, role=role.name, policy_arn=SSM_POLICY, opts=self.child))
        profile = aws.iam.InstanceProfile(
            name, name=owner.name(name, 128), role=role.name, tags=self._tags(name), opts=self.child
        )
        return granted, profile

    def _publish(self) -> aws.s3.BucketObjectv2:
        args = self.args
        authorities = args["cluster_authority"], args["people_authority"]
        made = contents(args["fleet"], self.spec, self.server, args["authority"], authorities, args["hosts"], self)
        published = Published(
            title=self.spec.machine(self.server),
            bucket=self.spec.bucket,
            prefix=self.prefix,
            key_arn=self.args["key_arn"],
            owner=self.args["owner"],
            tags=self._tags(self.name),
            files=made.files,
            keys=made.keys,
            signing=args["authority"].signing,
        )
        return publish(self.name, published, self.child, self.child)

    def _one(self, profile: aws.iam.InstanceProfile) -> One:
        owner, kubernetes = self.args["owner"], self.spec.node.kubernetes
        verify_key = known_in_preview(self.args["authority"].verify_key, VERIFY_KEY)
        return One(
            named=(owner.name(self.name, 128), group(self.args["fleet"], self.spec.region, self.name)),
            zone=f"{self.spec.region}{self.server.zone}",
            image_id=RESOLVE + parameter(self.spec.fleet, kubernetes, variant="laptop"),
            kubernetes=kubernetes,
            instance_type=INSTANCE_TYPES["aws"],
            profile=profile,
            interface=self.interface,
            root_gib=ROOT_GIB[LAPTOPS],
            script=verify_key.apply(lambda key: user_data(self.spec.region, self.spec.bucket, self.prefix, key)),
            tags=self._tags(self.name),
        )

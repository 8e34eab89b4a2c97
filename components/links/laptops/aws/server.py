"""One server for laptops on AWS: its addresses, its role, its bundle, and the group that keeps it alive."""

import json

import pulumi
import pulumi_aws as aws

from components.boot.user_data import user_data
from components.control_plane.aws.singleton import One, Role, Store, keep_alive, publish, role
from components.pools.hardware import ROOT_GIB
from components.pools.spec import LAPTOPS
from components.preview import VERIFY_KEY, known_in_preview, known_key_arn
from fleet.image_names import RESOLVE, parameter

from ..laptop_server import AnyLaptopServer, AnyLaptopServerArgs
from ..nodes import INSTANCE_TYPES, ROLE, group
from .authority import LaptopsAuthority
from .roles import permissions


class LaptopServerArgs(AnyLaptopServerArgs):
    """`key_arn` is the region's key."""

    authority: LaptopsAuthority
    key_arn: pulumi.Input[str]


class LaptopServer(AnyLaptopServer):
    """A scaling group of one, whose machines take over interface, public address and bundle from the one before.

    `interface` is where routes to its laptops lead; `address` the public one, which people's profiles hold.
    """

    def __init__(self, name: str, args: LaptopServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.interface = aws.ec2.NetworkInterface(
            name,
            subnet_id=args["subnet_id"],
            security_groups=[args["group_id"]],
            # What it forwards is of its laptops' addresses, not of its own.
            source_dest_check=False,
            description=f"Laptops come in at {self.server.host}",
            tags=self.tags,
            opts=self.child,
        )
        # It outlives machines: every profile that was given out names it.
        public = aws.ec2.Eip(name, domain="vpc", tags=self.tags, opts=self.child)
        self.address: pulumi.Output[str] = public.public_ip
        reachable = aws.ec2.EipAssociation(
            name, allocation_id=public.id, network_interface_id=self.interface.id, opts=self.child
        )
        store = Store(self.spec.bucket, args["key_arn"], self.owner, self.tags)
        bundle = self.signed(args["authority"], args)
        granted, profile = self._role(args["key_arn"])
        ready = [reachable, *granted, publish(name, bundle, store, self.child, self.child)]
        one = self._one(profile, args["authority"].verify_key)
        self.group = keep_alive(name, one, self.child, ready)
        self.register_outputs({})

    def _role(self, key_arn: pulumi.Input[str]) -> tuple[list[pulumi.Resource], aws.iam.InstanceProfile]:
        fleet = self.fleet
        assert fleet.aws is not None
        wanted = Role(
            named=(self.owner.name(self.name, ROLE), self.owner.name(self.name, 128)),
            machine=self.machine_name,
            policy=known_key_arn(key_arn, self.spec.region, fleet.aws.account_id).apply(
                lambda arn: json.dumps(permissions(fleet, self.spec, self.server, arn))
            ),
            ssm=fleet.access == "ssm",
            tags=self.tags,
        )
        return role(self.name, wanted, self.child)

    def _one(self, profile: aws.iam.InstanceProfile, verify_key: pulumi.Output[str]) -> One:
        kubernetes, known = self.spec.node.kubernetes, known_in_preview(verify_key, VERIFY_KEY)
        return One(
            named=(self.owner.name(self.name, 128), group(self.fleet, self.spec.region, self.name)),
            zone=f"{self.spec.region}{self.server.zone}",
            image_id=RESOLVE + parameter(self.spec.fleet, kubernetes, variant="laptop"),
            kubernetes=kubernetes,
            instance_type=INSTANCE_TYPES["aws"],
            profile=profile,
            interface=self.interface,
            root_gib=ROOT_GIB[LAPTOPS],
            script=known.apply(lambda key: user_data(self.spec.region, self.spec.bucket, self.prefix, key)),
            tags=self.tags,
        )

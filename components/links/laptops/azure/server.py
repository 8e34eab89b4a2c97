"""One server for laptops on Azure: its addresses, its identity, its bundle, and the virtual machine itself."""

import time

import pulumi
import pulumi_azure_native as azure

from components.control_plane.azure.singleton import (
    One,
    Store,
    granted,
    identity,
    login_line,
    publish,
    script,
    secret_name,
    virtual_machine,
)
from components.pools.hardware import ROOT_GIB
from components.pools.spec import LAPTOPS
from fleet.buckets import resource_group

from ..laptop_server import AnyLaptopServer, AnyLaptopServerArgs
from ..nodes import INSTANCE_TYPES, group
from .authority import LaptopsAuthority
from .roles import bundle_grant, key_grant

# Of a scale set's machines, whose names end alike: components/pools/on_machine/join_rules.py.
SIGNS, DIGITS = 6, "0123456789abcdefghijklmnopqrstuvwxyz"


class LaptopServerArgs(AnyLaptopServerArgs):
    """`image` is what it starts from, as Azure's `imageReference` has it."""

    authority: LaptopsAuthority
    image: dict[str, str]


class LaptopServer(AnyLaptopServer):
    """`machine` is a virtual machine by itself, whose successor takes over interface, public address and bundle.

    `interface` has its address in the network, `address` is the public one, which people's profiles hold.
    """

    def __init__(self, name: str, args: LaptopServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.group = resource_group(self.fleet, self.spec.region)
        # It outlives machines: every profile that was given out names it.
        public = azure.network.PublicIPAddress(
            name,
            public_ip_address_name=self._named(80),
            resource_group_name=self.group,
            location=self.spec.region,
            sku={"name": "Standard", "tier": "Regional"},
            public_ip_allocation_method="Static",
            zones=[self.server.zone],
            tags=self.tags,
            opts=self.child,
        )
        self.address: pulumi.Output[str] = public.ip_address.apply(lambda address: address or "")
        self.interface = self._interface(args, public)
        self.identity = identity(name, self._named(128), self.group, self.spec.region, self.tags, self.child)
        secret = args["authority"].life.apply(lambda life: secret_name(self.prefix, life))
        store = Store(self.group, self.spec.bucket, self.spec.vault, secret, self.tags)
        keys, manifest = publish(name, self.signed(args["authority"], args), store, self.child, self.child)
        ready: list[pulumi.Resource] = [*self._granted(args["authority"].life, keys), manifest]
        self.machine = virtual_machine(name, self._one(args), self.child, ready)
        self.register_outputs({})

    def _named(self, most: int) -> str:
        return self.owner.name(self.name, most)

    def _interface(
        self, args: LaptopServerArgs, public: azure.network.PublicIPAddress
    ) -> azure.network.NetworkInterface:
        """It forwards nothing by Azure's leave: what laptops send has the server's own address."""
        return azure.network.NetworkInterface(
            self.name,
            network_interface_name=self._named(80),
            resource_group_name=self.group,
            location=self.spec.region,
            enable_accelerated_networking=True,
            ip_configurations=[
                {
                    "name": "server",
                    "primary": True,
                    "private_ip_allocation_method": "Dynamic",
                    "public_ip_address": {"id": public.id},
                    "subnet": {"id": args["subnet_id"]},
                }
            ],
            network_security_group={"id": args["group_id"]},
            tags=self.tags,
            opts=self.child,
        )

    def _granted(self, life_output: pulumi.Output[str], secret: pulumi.Resource) -> list[pulumi.Resource]:
        fleet, spec = self.fleet, self.spec
        return granted(
            self.name,
            [bundle_grant(fleet, spec, self.server)],
            lambda life: key_grant(fleet, spec, self.server, secret_name(self.prefix, life)),
            life_output,
            self.identity,
            self,
            secret,
        )

    def _one(self, args: LaptopServerArgs) -> One:
        spec, authority = self.spec, args["authority"]
        named = group(self.fleet, spec.region, self.name)
        return One(
            named=named,
            host_name=called(named, time.time()),
            machine=self.machine_name,
            group=self.group,
            region=spec.region,
            zone=self.server.zone,
            image=args["image"],
            kubernetes=spec.node.kubernetes,
            size=INSTANCE_TYPES["azure"],
            identity_id=self.identity.id,
            interface_id=self.interface.id,
            disks={},
            root_gib=ROOT_GIB[LAPTOPS],
            script=script(spec.region, spec.bucket, self.prefix, authority.verify_key, spec.vault, authority.life),
            # Whose holder is root there anyway; sshd takes no key of this account.
            admin_key=authority.signing_public.apply(login_line),
            tags=self.tags,
        )


def called(group: str, now: float) -> str:
    """The computer's name, and its node's: as a scale set would call it, and never as one before it was.

    A node's name that has gone stays shut out for as long as its certificates might last. No run but the one that makes
    the machine looks at this: `fleet.rolling.CREATE_ONLY`.
    """
    left, signs = int(now) % len(DIGITS) ** SIGNS, ""
    for _ in range(SIGNS):
        left, digit = divmod(left, len(DIGITS))
        signs = DIGITS[digit] + signs
    return f"{group}-{signs}"

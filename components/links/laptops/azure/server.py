"""One server for laptops on Azure: its addresses, its identity, its bundle, and the virtual machine itself."""

import time
from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.azure.assignment import Assignment, assigned
from components.boot.hosts import HostAuthority
from components.boot.user_data import user_data
from components.control_plane.azure.roles import Grant
from components.control_plane.azure.singleton import One, Published, login_line, publish, vaulted, virtual_machine
from components.pools.hardware import ROOT_GIB
from components.pools.spec import LAPTOPS
from components.preview import VERIFY_KEY, known_in_preview
from components.tags import Owner
from fleet.buckets import resource_group
from fleet.model import Fleet

from ..contents import contents
from ..nodes import INSTANCE_TYPES, group
from ..spec import LaptopsSpec, Server
from .authority import LaptopsAuthority
from .roles import bundle_grant, key_grant

# Stands in for a life that a preview can't know yet.
NO_LIFE = "0" * 8
# Of a scale set's machines, whose names end alike: components/pools/on_machine/join_rules.py.
SIGNS, DIGITS = 6, "0123456789abcdefghijklmnopqrstuvwxyz"


class LaptopServerArgs(TypedDict):
    """`subnet_id` is a public subnet's of the server's zone, `group_id` the security group of all servers.

    `image` is what it starts from, as Azure's `imageReference` has it. `cluster_authority` is PEM: whom the server
    trusts as a node. `people_authority` is the public line of what signs people's certificates; empty where keys let
    them in. `hosts` vouches for the server to people's clients, where certificates let them in.
    """

    fleet: Fleet
    spec: LaptopsSpec
    server: Server
    owner: Owner
    authority: LaptopsAuthority
    subnet_id: pulumi.Input[str]
    group_id: pulumi.Input[str]
    image: dict[str, str]
    cluster_authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]
    hosts: HostAuthority | None


class LaptopServer(pulumi.ComponentResource):
    """`machine` is a virtual machine by itself, whose successor takes over interface, public address and bundle.

    `interface` has its address in the network, `address` is the public one, which people's profiles hold.
    """

    def __init__(self, name: str, args: LaptopServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:LaptopServer", name, None, opts)
        self.name, self.args, self.spec, self.server = name, args, args["spec"], args["server"]
        self.group, self.prefix = resource_group(args["fleet"], self.spec.region), self.spec.prefix(name)
        self.child = pulumi.ResourceOptions(parent=self)
        # It outlives machines: every profile that was given out names it.
        public = azure.network.PublicIPAddress(
            name,
            public_ip_address_name=self._named(80),
            resource_group_name=self.group,
            location=self.spec.region,
            sku={"name": "Standard", "tier": "Regional"},
            public_ip_allocation_method="Static",
            zones=[self.server.zone],
            tags=self._tags(),
            opts=self.child,
        )
        self.address: pulumi.Output[str] = public.ip_address.apply(lambda address: address or "")
        self.interface = self._interface(public)
        self.identity = azure.managedidentity.UserAssignedIdentity(
            name,
            resource_name_=self._named(128),
            resource_group_name=self.group,
            location=self.spec.region,
            tags=self._tags(),
            opts=self.child,
        )
        keys, manifest = self._publish()
        ready: list[pulumi.Resource] = [*self._granted(keys), manifest]
        self.machine = virtual_machine(name, self._one(), self.child, ready)
        self.register_outputs({})

    def _tags(self) -> dict[str, str]:
        return {**self.args["owner"].tags(self.name), "landbridge:machine": self.spec.machine(self.server)}

    def _named(self, most: int) -> str:
        return self.args["owner"].name(self.name, most)

    def _interface(self, public: azure.network.PublicIPAddress) -> azure.network.NetworkInterface:
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
                    "subnet": {"id": self.args["subnet_id"]},
                }
            ],
            network_security_group={"id": self.args["group_id"]},
            tags=self._tags(),
            opts=self.child,
        )

    def _granted(self, secret: pulumi.Resource) -> list[pulumi.Resource]:
        fleet = self.args["fleet"]
        # Named by what is known before it is made: policies judge scopes.
        life = known_in_preview(self.args["authority"].birth, NO_LIFE)
        scope = life.apply(lambda known: key_grant(fleet, self.spec, self.server, self._secret(known)).scope)
        bundle, keys = bundle_grant(fleet, self.spec, self.server), key_grant(fleet, self.spec, self.server, "")
        return [self._assigned(bundle, bundle.scope), self._assigned(keys, scope, secret)]

    def _assigned(self, grant: Grant, scope: pulumi.Input[str], *after: pulumi.Resource) -> pulumi.Resource:
        assignment = Assignment(grant.name, grant.role, scope, grant.condition)
        return assigned(f"{self.name}-{grant.what}", assignment, self.identity, self, *after)

    def _secret(self, life: str) -> str:
        return vaulted(f"{self.prefix}/{life}")

    def _publish(self) -> tuple[pulumi.Resource, pulumi.Resource]:
        args = self.args
        authorities = args["cluster_authority"], args["people_authority"]
        made = contents(args["fleet"], self.spec, self.server, args["authority"], authorities, args["hosts"], self)
        published = Published(
            title=self.spec.machine(self.server),
            group=self.group,
            bucket=self.spec.bucket,
            prefix=self.prefix,
            vault=self.spec.vault,
            secret=args["authority"].birth.apply(self._secret),
            tags=self._tags(),
            files=made.files,
            keys=made.keys,
            signing=args["authority"].signing,
        )
        return publish(self.name, published, self.child, self.child)

    def _one(self) -> One:
        spec, authority = self.spec, self.args["authority"]
        known = pulumi.Output.all(
            known_in_preview(authority.verify_key, VERIFY_KEY), known_in_preview(authority.birth, NO_LIFE)
        )
        named = group(self.args["fleet"], spec.region, self.name)
        return One(
            named=named,
            host_name=called(named, time.time()),
            machine=spec.machine(self.server),
            group=self.group,
            region=spec.region,
            zone=self.server.zone,
            image=self.args["image"],
            kubernetes=spec.node.kubernetes,
            size=INSTANCE_TYPES["azure"],
            identity_id=self.identity.id,
            interface_id=self.interface.id,
            disks={},
            root_gib=ROOT_GIB[LAPTOPS],
            script=known.apply(
                lambda both: user_data(spec.region, spec.bucket, self.prefix, both[0], spec.vault, both[1])
            ),
            # Whose holder is root there anyway; sshd takes no key of this account.
            admin_key=authority.signing_public.apply(login_line),
            tags=self._tags(),
        )


def called(group: str, now: float) -> str:
    """The computer's name, and its node's: as a scale set would call it, and never as one before it was.

    A node's name that has gone stays shut out for as long as its certificates might last. No run but the one that makes
    the machine looks at this: `fleet.rolling.BIRTH`.
    """
    left, signs = int(now) % len(DIGITS) ** SIGNS, ""
    for _ in range(SIGNS):
        left, digit = divmod(left, len(DIGITS))
        signs = DIGITS[digit] + signs
    return f"{group}-{signs}"

"""What a machine of a control plane is on every cloud: whose it is, where it boots from, and what its bundle holds."""

from typing import TypedDict

import pulumi

from components.boot.hosts import HostAuthority
from components.tags import Owner
from fleet.model import Fleet

from .authority import Authority
from .contents import contents
from .machines import ClusterSpec, Machine
from .profiles import Volume
from .publishing import Signed
from .rings import RINGS


class AnyMachineArgs(TypedDict):
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
    people_authority: pulumi.Input[str]
    hosts: HostAuthority | None


class AnyMachine(pulumi.ComponentResource):
    """`of` is the machine as its cluster has it."""

    def __init__(self, name: str, args: AnyMachineArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:Machine", name, None, opts)
        self.name, self.fleet, self.owner = name, args["fleet"], args["owner"]
        self.spec, self.of, self.authority = args["spec"], args["machine"], args["authority"]
        self.prefix = self.spec.prefix(self.of.name)
        self.child = pulumi.ResourceOptions(parent=self)
        self.protected = pulumi.ResourceOptions(parent=self, protect=True)

    def tags(self, name: str) -> dict[str, str]:
        whose = {"landbridge:cluster": self.spec.name, "landbridge:machine": self.of.name}
        return {**self.owner.tags(name), **whose}

    def signed(self, people_authority: pulumi.Input[str], hosts: HostAuthority | None) -> Signed:
        """Its bundle, whose keys and certificates are made as its children."""
        made = contents(self.fleet, self.spec, self.of, self.authority, people_authority, hosts, self)
        return Signed(self.of.name, self.prefix, made.files, made.keys, self.authority.signing.private)

    @property
    def volumes(self) -> dict[str, Volume]:
        """By ring. API servers keep nothing."""
        profile = self.spec.profile
        found = {"main": profile.main, "events": profile.events}
        return {ring.name: found[ring.name] for ring in RINGS} if self.of.role == "etcd" else {}

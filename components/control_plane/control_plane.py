"""What a control plane is on every cloud: keys, names, machines and credentials, made of each cloud's own parts."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TypedDict

import pulumi

from components.boot.hosts import host_authority
from components.tags import Owner
from fleet.model import Fleet

from .authority import Authority, Recovered
from .issuer import IssuerArgs
from .machine import AnyMachineArgs
from .machines import ClusterSpec, Machine
from .pki import Certificate, Generations

RECORD_SECONDS = 60


class AnyControlPlaneArgs(TypedDict):
    """`subnet_ids` are the home region's, of planned addresses, by zone.

    `recovered` are the keys of a cluster that is rebuilt, None for one that was born here.
    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    """

    fleet: Fleet
    spec: ClusterSpec
    owner: Owner
    supernet: str
    generations: dict[str, Generations]
    recovered: Recovered | None
    subnet_ids: dict[str, pulumi.Input[str]]
    people_authority: pulumi.Input[str]


class AnyControlPlane(pulumi.ComponentResource, ABC):
    """`authority` has all keys; `hosts` vouches for machines to people's clients."""

    def __init__(self, name: str, args: AnyControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:ControlPlane", name, None, opts)
        self.fleet, self.spec, self.owner = args["fleet"], args["spec"], args["owner"]
        self.child = pulumi.ResourceOptions(parent=self)
        self.authority = Authority(
            "authority",
            {"spec": self.spec, "generations": args["generations"], "recovered": args["recovered"]},
            self.child,
        )
        self.hosts = host_authority(self.fleet, self.spec.logins, self.child)

    def short(self, machine: Machine) -> str:
        return machine.name.removeprefix(f"{self.spec.name}-")

    def machine_args(
        self, args: AnyControlPlaneArgs, machine: Machine, group_ids: Mapping[str, pulumi.Input[str]]
    ) -> AnyMachineArgs:
        """What a machine is told on every cloud; `group_ids` are security groups by role."""
        return {
            "fleet": self.fleet,
            "spec": self.spec,
            "machine": machine,
            "owner": self.owner,
            "authority": self.authority,
            "subnet_id": args["subnet_ids"][machine.zone],
            "group_id": group_ids[machine.role],
            "people_authority": args["people_authority"],
            "hosts": self.hosts,
        }

    def issuer_args(self) -> IssuerArgs:
        keys = self.authority.public_keys()
        return {"fleet": self.fleet, "spec": self.spec, "owner": self.owner, "public_keys": keys}

    def names(self) -> None:
        """Of the API and of every machine. Addresses, also of the balancer: they never change, and whoever can't ask
        this zone can copy them.
        """
        self._record("endpoint", self.spec.endpoint, list(self.spec.balancer.values()))
        for machine in self.spec.machines:
            self._record(self.short(machine), machine.host, [machine.address])

    def credential(self, name: str, wish: Certificate) -> pulumi.Input[str]:
        """Seals a client certificate in a secret that no machine may read; returns the secret's name."""
        pair = self.authority.certificate(wish, self)
        text = pulumi.Output.all(crt=pair.public, key=pair.private).apply(json.dumps)
        return self._keep(name, f"Credential {wish.common_name} of {self.spec.name}", text)

    @abstractmethod
    def _record(self, name: str, host: str, addresses: list[str]) -> None:
        """In the region's private zone."""

    @abstractmethod
    def _keep(self, name: str, description: str, text: pulumi.Output[str]) -> pulumi.Input[str]:
        """In the region's secrets store; gives the secret's name."""

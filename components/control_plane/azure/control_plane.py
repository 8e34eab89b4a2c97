"""A cluster's control plane on Azure: keys, machines, security groups, names, and the load balancer before the API."""

import json
from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.boot.hosts import host_authority
from components.tags import Owner
from fleet.buckets import resource_group, vault_name
from fleet.model import Fleet

from ..authority import Authority, Recovered
from ..machines import ClusterSpec, Machine, Role
from ..pki import Certificate, Generations, admin, break_glass
from .balancer import Balancer
from .firewall import Ruled, groups, written
from .issuer import Issuer
from .machine import ControlPlaneMachine
from .singleton import secret, vaulted

RECORD_SECONDS = 60


class ControlPlaneArgs(TypedDict):
    """Ids are the home region's: `subnet_ids` of the subnets of planned addresses, by zone.

    `recovered` are the keys of a cluster that is rebuilt, None for one that was born here.
    `image` is what machines start from, as Azure's `imageReference` has it. `people_authority` is the public line of
    what signs people's certificates; empty where keys let them in.
    """

    fleet: Fleet
    spec: ClusterSpec
    owner: Owner
    supernet: str
    generations: dict[str, Generations]
    recovered: Recovered | None
    subnet_ids: dict[str, pulumi.Input[str]]
    image: dict[str, str]
    people_authority: pulumi.Input[str]


class ControlPlane(pulumi.ComponentResource):
    """`machines` by name, `authority` with all keys.

    `break_glass` and `admin` name the secrets with a credential, `recovery` the one with every key. Their names end in
    the cluster's life: a vault keeps those of what was deleted.
    """

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:ControlPlane", name, None, opts)
        self.args, self.spec, self.owner = args, args["spec"], args["owner"]
        self.group = resource_group(args["fleet"], self.spec.region)
        self.child = pulumi.ResourceOptions(parent=self)
        self.authority = Authority(
            "authority",
            {"spec": self.spec, "generations": args["generations"], "recovered": args["recovered"]},
            self.child,
        )
        self.groups = {part: self._group(part, rules) for part, rules in groups(self.spec, args["supernet"]).items()}
        self.balancer = Balancer(
            "api",
            {"fleet": args["fleet"], "spec": self.spec, "owner": self.owner, "subnet_ids": args["subnet_ids"]},
            self.child,
        )
        self._record("endpoint", self.spec.endpoint, list(self.spec.balancer.values()))
        self.hosts = host_authority(args["fleet"], self.spec.logins, self.child)
        self.machines = {machine.name: self._machine(machine) for machine in self.spec.machines}
        self.break_glass = self._credential("break-glass", break_glass(self.spec))
        self.admin = self._credential("admin", admin(self.spec))
        self.recovery = self._recovery()
        Issuer(
            "issuer",
            {
                "fleet": args["fleet"],
                "spec": self.spec,
                "owner": self.owner,
                "public_keys": self.authority.public_keys(),
            },
            self.child,
        )
        self.register_outputs({})

    def _group(self, part: Role, rules: tuple[Ruled, ...]) -> azure.network.NetworkSecurityGroup:
        return azure.network.NetworkSecurityGroup(
            part,
            network_security_group_name=self.owner.name(part, 80),
            resource_group_name=self.group,
            location=self.spec.region,
            security_rules=written(rules),
            tags=self.owner.tags(part),
            opts=self.child,
        )

    def _record(self, name: str, host: str, addresses: list[str]) -> None:
        azure.privatedns.PrivateRecordSet(
            name,
            private_zone_name=self.spec.zone_name,
            resource_group_name=self.group,
            relative_record_set_name=host.removesuffix(f".{self.spec.zone_name}"),
            record_type="A",
            ttl=RECORD_SECONDS,
            a_records=[{"ipv4_address": address} for address in addresses],
            opts=self.child,
        )

    def _machine(self, machine: Machine) -> ControlPlaneMachine:
        short = machine.name.removeprefix(f"{self.spec.name}-")
        self._record(short, machine.host, [machine.address])
        return ControlPlaneMachine(
            short,
            {
                "fleet": self.args["fleet"],
                "spec": self.spec,
                "machine": machine,
                "owner": self.owner,
                "authority": self.authority,
                "subnet_id": self.args["subnet_ids"][machine.zone],
                "group_id": self.groups[machine.role].id,
                "pool_id": self.balancer.pool_id if machine.role == "api" else None,
                "image": self.args["image"],
                "people_authority": self.args["people_authority"],
                "hosts": self.hosts,
            },
            self.child,
        )

    def _credential(self, name: str, wish: Certificate) -> pulumi.Output[str]:
        """Seals a client certificate in a secret that no machine may read; returns the secret's name."""
        pair, place = self.authority.certificate(wish, self), self._place(name)
        text = pulumi.Output.all(crt=pair.public, key=pair.private).apply(json.dumps)
        self._seal(name, self.spec.region, place, text, self.child)
        return place

    def _place(self, name: str) -> pulumi.Output[str]:
        place: pulumi.Output[str] = self.authority.birth.apply(lambda life: self.spec.prefix(f"{name}/{life}"))
        return place

    def _recovery(self) -> pulumi.Output[str]:
        """All keys once more, apart: they stay when the cluster goes, as snapshots and disks do. The secret's name.

        In the second region's vault they lie by the same name: a vault has no replicas elsewhere.
        """
        place, text = self._place("recovery"), self.authority.recovery()
        stays = pulumi.ResourceOptions(parent=self, retain_on_delete=True)
        self._seal("recovery", self.spec.region, place, text, stays)
        if self.spec.copies:
            self._seal("recovery-copy", self.spec.copies.region, place, text, stays)
        return place

    def _seal(
        self,
        name: str,
        region: str,
        place: pulumi.Output[str],
        text: pulumi.Input[str],
        opts: pulumi.ResourceOptions,
    ) -> None:
        fleet = self.args["fleet"]
        kept = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=True))
        tags = self.owner.tags(name)
        secret(name, resource_group(fleet, region), vault_name(fleet, region), place.apply(vaulted), text, tags, kept)

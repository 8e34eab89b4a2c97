"""A cluster's control plane on Azure: keys, machines, security groups, names, and the load balancer before the API."""

import pulumi
import pulumi_azure_native as azure

from fleet.buckets import resource_group, vault_name

from ..control_plane import RECORD_SECONDS, AnyControlPlane, AnyControlPlaneArgs
from ..machines import Machine, Role
from ..pki import admin, break_glass
from .balancer import Balancer
from .firewall import Ruled, groups, written
from .issuer import Issuer
from .machine import ControlPlaneMachine
from .singleton import secret, vaulted


class ControlPlaneArgs(AnyControlPlaneArgs):
    """`image` is what machines start from, as Azure's `imageReference` has it."""

    image: dict[str, str]


class ControlPlane(AnyControlPlane):
    """`machines` by name, `authority` with all keys.

    `break_glass` and `admin` name the secrets with a credential, `recovery` the one with every key. Their names end in
    the cluster's life: a vault keeps those of what was deleted.
    """

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.args, self.group = args, resource_group(self.fleet, self.spec.region)
        self.groups = {part: self._group(part, rules) for part, rules in groups(self.spec, args["supernet"]).items()}
        self.balancer = Balancer(
            "api",
            {"fleet": args["fleet"], "spec": self.spec, "owner": self.owner, "subnet_ids": args["subnet_ids"]},
            self.child,
        )
        self.names()
        self.machines = {machine.name: self._machine(machine) for machine in self.spec.machines}
        self.break_glass = self.credential("break-glass", break_glass(self.spec))
        self.admin = self.credential("admin", admin(self.spec))
        self.recovery = self._recovery()
        Issuer("issuer", self.issuer_args(), self.child)
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
        machine_args = self.machine_args(self.args, machine, {role: group.id for role, group in self.groups.items()})
        pool_id = self.balancer.pool_id if machine.role == "api" else None
        return ControlPlaneMachine(
            self.short(machine), {**machine_args, "pool_id": pool_id, "image": self.args["image"]}, self.child
        )

    def _keep(self, name: str, description: str, text: pulumi.Output[str]) -> pulumi.Output[str]:  # noqa: ARG002
        """Secrets of a vault have no descriptions."""
        place = self._place(name)
        self._seal(name, self.spec.region, place, text, self.child)
        return place

    def _place(self, name: str) -> pulumi.Output[str]:
        place: pulumi.Output[str] = self.authority.life.apply(lambda life: self.spec.prefix(f"{name}/{life}"))
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
        fleet = self.fleet
        protected = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=True))
        tags = self.owner.tags(name)
        secret(
            name, resource_group(fleet, region), vault_name(fleet, region), place.apply(vaulted), text, tags, protected
        )

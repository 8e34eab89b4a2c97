"""A pool on Azure: its identity, its bundle, its firewall, and the scale sets that hold machines."""

from collections.abc import Sequence

import pulumi
import pulumi_azure_native as azure

from components.azure.assignment import Assignment, assigned
from components.control_plane.azure.singleton import NO_LIFE
from components.preview import VERIFY_KEY, known_in_preview
from components.tags import KUBERNETES
from fleet.buckets import resource_group, vault_name

from .. import user_data
from ..firewall import OWN
from ..names import Group
from ..pool import AnyPool, AnyPoolArgs
from . import capacity, firewall, roles
from . import template as azure_template
from .publishing import AzurePublishing
from .roles import Grant


class PoolArgs(AnyPoolArgs):
    """`image` is the id of what machines start from."""

    image: str


class Pool(AnyPool):
    """`groups` are scale sets by zone, or one under `all`; `firewall` is the machines' security group."""

    def __init__(self, name: str, args: PoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.args, self.group = args, resource_group(self.fleet, self.spec.place)
        self.publishing = AzurePublishing(self.fleet, self.spec, "", self)
        self.own = self._own() if any(rule.peer == OWN for rule in args["rules"]) else None
        self.firewall = self._firewall()
        self.identity = self._identity()
        ready = [self.publish(self.publishing, args)]
        # Named by what is known before it is made: policies judge scopes. Nodes have no secret.
        life = known_in_preview(self.publishing.life, NO_LIFE) if self.hosts else pulumi.Output.from_input("")
        ready += [self._grant(), *([self._key_grant(life)] if self.hosts else [])]
        known = pulumi.Output.all(known_in_preview(self.publishing.verify_key, VERIFY_KEY), life)
        vault = vault_name(self.fleet, self.spec.place)
        script = known.apply(lambda both: user_data.script(self.spec, self.publishing.bucket, both[0], vault, both[1]))
        groups = self.names.scaling(self.spec.name)
        self.groups = {group.key: self._scale_set(group, script, ready) for group in groups}
        self.register_outputs({})

    def _own(self) -> azure.network.ApplicationSecurityGroup:
        """What stands for the pool's machines in rules."""
        return azure.network.ApplicationSecurityGroup(
            "own",
            application_security_group_name=self.names.firewall(self.spec.name),
            resource_group_name=self.group,
            location=self.spec.place,
            tags=self.tags("own"),
            opts=self.child,
        )

    def _firewall(self) -> azure.network.NetworkSecurityGroup:
        return azure.network.NetworkSecurityGroup(
            "node",
            network_security_group_name=self.names.firewall(self.spec.name),
            resource_group_name=self.group,
            location=self.spec.place,
            security_rules=firewall.written(firewall.ruled(self.args["rules"]), self.own.id if self.own else None),
            tags=self.tags("node"),
            opts=self.child,
        )

    def _identity(self) -> azure.managedidentity.UserAssignedIdentity:
        return azure.managedidentity.UserAssignedIdentity(
            "node",
            resource_name_=self.names.role(self.spec.name),
            resource_group_name=self.group,
            location=self.spec.place,
            tags=self.tags("node"),
            opts=self.child,
        )

    def _grant(self) -> pulumi.Resource:
        grant = roles.bundle_grant(self.fleet, self.spec)
        return self._assigned("bundle", grant, grant.scope)

    def _key_grant(self, life: pulumi.Output[str]) -> pulumi.Resource:
        def grant(known: str) -> Grant:
            return roles.key_grant(self.fleet, self.spec, self.publishing.secret_name(known))

        return self._assigned("keys", grant(""), life.apply(lambda known: grant(known).scope))

    def _assigned(self, name: str, grant: Grant, scope: pulumi.Input[str]) -> pulumi.Resource:
        after = [self.publishing.secret] if self.publishing.secret else []
        return assigned(name, Assignment(grant.name, grant.role, scope, grant.condition), self.identity, self, *after)

    def _scale_set(
        self, group: Group, script: pulumi.Output[str], ready: Sequence[pulumi.Resource]
    ) -> azure.compute.VirtualMachineScaleSet:
        args, spec = self.args, self.spec
        subnets = [args["subnet_ids"][zone] for zone in group.zones]
        key = self.publishing.signing.public_key_openssh.apply(str.strip)
        machine = azure_template.profile(self.fleet, spec, group, args["image"], script, key)
        network = azure_template.interfaces(subnets, self.firewall.id, self.own.id if self.own else None)
        return azure.compute.VirtualMachineScaleSet(
            group.key,
            vm_scale_set_name=group.name,
            resource_group_name=self.group,
            identity={"type": "UserAssigned", "user_assigned_identities": [self.identity.id]},
            virtual_machine_profile={**machine, "network_profile": network},
            # A set's tags are its machines' own.
            tags={**self.tags(group.key), KUBERNETES: spec.kubernetes},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=ready,
                protect=True,
                ignore_changes=[capacity.SIZE],
                hooks=capacity.keep_capacity(self.group, group.name, self),
            ),
            **azure_template.scale_set(spec, group),
        )

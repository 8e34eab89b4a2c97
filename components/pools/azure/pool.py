"""A pool on Azure: its identity, its bundle, its firewall, and the scale sets that hold machines."""

from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.azure.assignment import Assignment, assigned
from components.boot import hosts
from components.boot.hosts import host_authority
from components.preview import VERIFY_KEY, known_in_preview
from components.tags import KUBERNETES, Owner
from fleet.buckets import resource_group, vault_name
from fleet.logins import pools_host
from fleet.model import Fleet

from .. import user_data
from ..firewall import OWN, Rule
from ..names import Group, Names
from ..spec import PoolSpec
from . import capacity, firewall, roles
from . import template as azure_template
from .publishing import AzurePublishing
from .roles import Grant

# Stands in for a life that a preview can't know yet.
NO_LIFE = "0" * 8


class PoolArgs(TypedDict):
    """Ids are of the pool's region: `subnet_ids` of its private subnets by zone. `authority` is the cluster's PEM;
    `rules` are firewall.rules'; `image` is the id of what machines start from. `people_authority` is the public line of
    what signs people's certificates; empty where keys let them in.
    """

    fleet: Fleet
    spec: PoolSpec
    owner: Owner
    rules: tuple[Rule, ...]
    subnet_ids: dict[str, pulumi.Input[str]]
    authority: pulumi.Input[str]
    image: str
    people_authority: pulumi.Input[str]


class Pool(pulumi.ComponentResource):
    """`groups` are scale sets by zone, or one under `all`; `firewall` is the machines' security group.

    Sizes belong to the autoscaler: no `up` changes one, and none ends a machine.
    """

    def __init__(self, name: str, args: PoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:pools:Pool", name, None, opts)
        self.args, self.spec, self.fleet = args, args["spec"], args["fleet"]
        self.names, self.child = Names(self.fleet), pulumi.ResourceOptions(parent=self)
        self.group = resource_group(self.fleet, self.spec.place)
        self.publishing = AzurePublishing(self.fleet, self.spec, "", self)
        self.own = self._own() if any(rule.peer == OWN for rule in args["rules"]) else None
        self.firewall = self._firewall()
        self.identity = self._identity()
        self.hosts = host_authority(self.fleet, self.spec.logins, self.child)
        shown = hosts.shown(self.hosts, self.spec.name, [pools_host(self.fleet, self.spec.place)], self)
        ready = [self.publishing.publish(args["authority"], args["people_authority"], shown, self._tags)]
        # Named by what is known before it is made: policies judge scopes. Nodes have no secret.
        life = known_in_preview(self.publishing.life, NO_LIFE) if self.hosts else pulumi.Output.from_input("")
        ready += [self._grant(), *([self._key_grant(life)] if self.hosts else [])]
        known = pulumi.Output.all(known_in_preview(self.publishing.verify_key, VERIFY_KEY), life)
        vault = vault_name(self.fleet, self.spec.place)
        script = known.apply(lambda both: user_data.script(self.spec, self.publishing.bucket, both[0], vault, both[1]))
        groups = self.names.scaling(self.spec.name)
        self.groups = {group.key: self._scale_set(group, script, ready) for group in groups}
        self.register_outputs({})

    def _tags(self, name: str) -> dict[str, str]:
        return {
            **self.args["owner"].tags(name),
            "landbridge:cluster": self.spec.cluster,
            "landbridge:pool": self.spec.name,
        }

    def _own(self) -> azure.network.ApplicationSecurityGroup:
        """What stands for the pool's machines in rules."""
        return azure.network.ApplicationSecurityGroup(
            "own",
            application_security_group_name=self.names.firewall(self.spec.name),
            resource_group_name=self.group,
            location=self.spec.place,
            tags=self._tags("own"),
            opts=self.child,
        )

    def _firewall(self) -> azure.network.NetworkSecurityGroup:
        return azure.network.NetworkSecurityGroup(
            "node",
            network_security_group_name=self.names.firewall(self.spec.name),
            resource_group_name=self.group,
            location=self.spec.place,
            security_rules=firewall.written(firewall.ruled(self.args["rules"]), self.own.id if self.own else None),
            tags=self._tags("node"),
            opts=self.child,
        )

    def _identity(self) -> azure.managedidentity.UserAssignedIdentity:
        return azure.managedidentity.UserAssignedIdentity(
            "node",
            resource_name_=self.names.role(self.spec.name),
            resource_group_name=self.group,
            location=self.spec.place,
            tags=self._tags("node"),
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
            tags={**self._tags(group.key), KUBERNETES: spec.kubernetes},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=ready,
                protect=True,
                ignore_changes=[capacity.SIZE],
                hooks=capacity.keep_capacity(self.group, group.name, self),
            ),
            **azure_template.scale_set(spec, group),
        )

"""One machine of a control plane on Azure: its address, its identity, its bundle, its disks, and itself."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.azure.assignment import Assignment, assigned
from components.boot.hosts import HostAuthority
from components.boot.user_data import user_data
from components.preview import VERIFY_KEY, known_in_preview
from components.tags import Owner
from fleet.buckets import resource_group
from fleet.model import Fleet

from ..authority import Authority
from ..contents import contents
from ..disks import LUNS, disk
from ..machines import ClusterSpec, Machine
from ..names import machine_name
from ..profiles import Volume
from ..rings import RINGS
from .roles import Grant, grants, key_grant
from .singleton import One, Published, login_line, publish, vaulted, virtual_machine

ROOT_GIB = 50
# Premium disks of the second version say their speed apart from their size, as AWS's do, and have at least this.
DISK, LEAST_MIB = "PremiumV2_LRS", 125
# Azure's bound.
DISK_NAME = 80
# Stands in for a life that a preview can't know yet.
NO_LIFE = "0" * 8


class MachineArgs(TypedDict):
    """`name` of the component is the machine's without its cluster's; the rest is of the cluster or its region.

    `pool_id` is the balancer's pool that it stands in, None for none. `image` is what it starts from, as Azure's
    `imageReference` has it. `people_authority` is the public line of what signs people's certificates; empty where keys
    let them in. `hosts` vouches for the machine to people's clients, where certificates let them in.
    """

    fleet: Fleet
    spec: ClusterSpec
    machine: Machine
    owner: Owner
    authority: Authority
    subnet_id: pulumi.Input[str]
    group_id: pulumi.Input[str]
    pool_id: pulumi.Input[str] | None
    image: dict[str, str]
    people_authority: pulumi.Input[str]
    hosts: HostAuthority | None


class ControlPlaneMachine(pulumi.ComponentResource):
    """`machine` is a virtual machine by itself, not of a set: those give no planned addresses.

    Its interface, disks, identity and secret are resources of their own, which the next one of its name takes over.
    Neither a new image nor a new bundle makes it anew, but `landbridge cluster roll` alone.
    """

    def __init__(self, name: str, args: MachineArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:Machine", name, None, opts)
        self.name, self.args = name, args
        self.spec, self.of = args["spec"], args["machine"]
        self.group, self.prefix = resource_group(args["fleet"], self.spec.region), self.spec.prefix(self.of.name)
        self.child = pulumi.ResourceOptions(parent=self)
        self.kept = pulumi.ResourceOptions(parent=self, protect=True)
        self.interface = self._interface()
        self.identity = azure.managedidentity.UserAssignedIdentity(
            name,
            resource_name_=self._named(128),
            resource_group_name=self.group,
            location=self.spec.region,
            tags=self._tags(name),
            opts=self.child,
        )
        disks = self._disks()
        keys, manifest = self._publish()
        ready: list[pulumi.Resource] = [*self._granted(keys), manifest, *disks.values()]
        one = self._one({lun: made.id for lun, made in disks.items()})
        self.machine = virtual_machine(name, one, self.child, ready)
        self.register_outputs({})

    def _tags(self, name: str) -> dict[str, str]:
        whose = {"landbridge:cluster": self.spec.name, "landbridge:machine": self.of.name}
        return {**self.args["owner"].tags(name), **whose}

    def _named(self, most: int, name: str = "") -> str:
        return self.args["owner"].name(name or self.name, most)

    def _interface(self) -> azure.network.NetworkInterface:
        planned: azure.network.NetworkInterfaceIPConfigurationArgsDict = {
            "name": "planned",
            "primary": True,
            "private_ip_address": self.of.address,
            "private_ip_allocation_method": "Static",
            "subnet": {"id": self.args["subnet_id"]},
        }
        if self.args["pool_id"] is not None:
            planned["load_balancer_backend_address_pools"] = [{"id": self.args["pool_id"]}]
        return azure.network.NetworkInterface(
            self.name,
            network_interface_name=self._named(80),
            resource_group_name=self.group,
            location=self.spec.region,
            enable_accelerated_networking=True,
            ip_configurations=[planned],
            network_security_group={"id": self.args["group_id"]},
            tags=self._tags(self.name),
            opts=self.child,
        )

    def _granted(self, secret: pulumi.Resource) -> list[pulumi.Resource]:
        fleet = self.args["fleet"]
        # Named by what is known before it is made: policies judge scopes.
        life = known_in_preview(self.args["authority"].birth, NO_LIFE)
        scope = life.apply(lambda known: key_grant(fleet, self.spec, self.of, self._secret(known)).scope)
        return [
            *(self._assigned(grant, grant.scope) for grant in grants(fleet, self.spec, self.of)),
            self._assigned(key_grant(fleet, self.spec, self.of, ""), scope, secret),
        ]

    def _assigned(self, grant: Grant, scope: pulumi.Input[str], *after: pulumi.Resource) -> pulumi.Resource:
        assignment = Assignment(grant.name, grant.role, scope, grant.condition)
        return assigned(f"{self.name}-{grant.what}", assignment, self.identity, self, *after)

    def _secret(self, life: str) -> str:
        return vaulted(f"{self.prefix}/{life}")

    def _publish(self) -> tuple[pulumi.Resource, pulumi.Resource]:
        args, authority = self.args, self.args["authority"]
        made = contents(args["fleet"], self.spec, self.of, authority, args["people_authority"], args["hosts"], self)
        published = Published(
            title=self.of.name,
            group=self.group,
            bucket=self.spec.bucket,
            prefix=self.prefix,
            vault=self.spec.vault,
            secret=authority.birth.apply(self._secret),
            tags=self._tags(self.name),
            files=made.files,
            keys=made.keys,
            signing=authority.signing.private,
        )
        return publish(self.name, published, self.child, self.kept)

    def _disks(self) -> dict[int, azure.compute.Disk]:
        """By LUN."""
        if self.of.role != "etcd":
            return {}
        volumes = {"main": self.spec.profile.main, "events": self.spec.profile.events}
        return {LUNS[ring.name]: self._disk(ring.name, disk(ring), volumes[ring.name]) for ring in RINGS}

    def _disk(self, ring: str, tag: str, volume: Volume) -> azure.compute.Disk:
        name = f"{self.name}-{ring}"
        return azure.compute.Disk(
            name,
            disk_name=self._of_life(name),
            resource_group_name=self.group,
            location=self.spec.region,
            zones=[self.of.zone],
            sku={"name": DISK},
            creation_data={"create_option": "Empty"},
            disk_size_gb=volume.size_gib,
            disk_iops_read_write=volume.iops,
            disk_m_bps_read_write=volume.throughput_mib or LEAST_MIB,
            network_access_policy="DenyAll",
            public_network_access="Disabled",
            tags={**self._tags(name), "landbridge:disk": tag},
            # A destroyed cluster's data stay until somebody deletes them by hand.
            opts=pulumi.ResourceOptions(parent=self, protect=True, retain_on_delete=True),
        )

    def _of_life(self, name: str) -> pulumi.Output[str]:
        """A disk's name: those of an earlier life of the cluster stay, with all that is on them."""
        named = self._named(DISK_NAME - len(f"--{NO_LIFE}"), name)
        return pulumi.Output.concat(named, "--", known_in_preview(self.args["authority"].birth, NO_LIFE))

    def _one(self, disks: dict[int, pulumi.Input[str]]) -> One:
        spec, authority = self.spec, self.args["authority"]
        sizes = {"etcd": spec.profile.etcd_size, "api": spec.profile.api_size}
        known = pulumi.Output.all(
            known_in_preview(authority.verify_key, VERIFY_KEY), known_in_preview(authority.birth, NO_LIFE)
        )
        return One(
            named=machine_name(self.args["owner"], spec, self.of.name),
            host_name=self.of.name,
            machine=self.of.name,
            group=self.group,
            region=spec.region,
            zone=self.of.zone,
            image=self.args["image"],
            kubernetes=spec.kubernetes,
            size=sizes[self.of.role],
            identity_id=self.identity.id,
            interface_id=self.interface.id,
            disks=disks,
            root_gib=ROOT_GIB,
            script=known.apply(
                lambda both: user_data(spec.region, spec.bucket, self.prefix, both[0], spec.vault, both[1])
            ),
            # Whose holder is root there anyway; sshd takes no key of this account.
            admin_key=authority.signing.public.apply(login_line),
            tags=self._tags(self.name),
        )

"""One machine of a control plane on Azure: its address, its identity, its bundle, its disks, and itself."""

import pulumi
import pulumi_azure_native as azure

from components.preview import known_in_preview
from fleet.buckets import resource_group

from ..disks import LUNS
from ..machine import AnyMachine, AnyMachineArgs
from ..names import machine_name
from ..profiles import Volume
from .roles import grants, key_grant
from .singleton import (
    NO_LIFE,
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

ROOT_GIB = 50
# Premium disks of the second version say their speed apart from their size, as AWS's do, and have at least this.
DISK, LEAST_MIB = "PremiumV2_LRS", 125
# Azure's bound.
DISK_NAME = 80


class MachineArgs(AnyMachineArgs):
    """`pool_id` is the balancer's pool that it stands in, None for none. `image` is what it starts from, as Azure's
    `imageReference` has it.
    """

    pool_id: pulumi.Input[str] | None
    image: dict[str, str]


class ControlPlaneMachine(AnyMachine):
    """`machine` is a virtual machine by itself, not of a set: those give no planned addresses.

    Its interface, disks, identity and secret are resources of their own, which the next one of its name takes over.
    Neither a new image nor a new bundle makes it anew, but `landbridge cluster roll` alone.
    """

    def __init__(self, name: str, args: MachineArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.group, self.image = resource_group(self.fleet, self.spec.region), args["image"]
        self.interface = self._interface(args)
        self.identity = identity(name, self._named(128), self.group, self.spec.region, self.tags(name), self.child)
        disks = self._disks()
        secret = self.authority.life.apply(lambda life: secret_name(self.prefix, life))
        store = Store(self.group, self.spec.bucket, self.spec.vault, secret, self.tags(name))
        bundle = self.signed(args["people_authority"], args["hosts"])
        keys, manifest = publish(name, bundle, store, self.child, self.protected)
        ready: list[pulumi.Resource] = [*self._granted(keys), manifest, *disks.values()]
        one = self._one({lun: made.id for lun, made in disks.items()})
        self.machine = virtual_machine(name, one, self.child, ready)
        self.register_outputs({})

    def _named(self, most: int, name: str = "") -> str:
        return self.owner.name(name or self.name, most)

    def _interface(self, args: MachineArgs) -> azure.network.NetworkInterface:
        planned: azure.network.NetworkInterfaceIPConfigurationArgsDict = {
            "name": "planned",
            "primary": True,
            "private_ip_address": self.of.address,
            "private_ip_allocation_method": "Static",
            "subnet": {"id": args["subnet_id"]},
        }
        if args["pool_id"] is not None:
            planned["load_balancer_backend_address_pools"] = [{"id": args["pool_id"]}]
        return azure.network.NetworkInterface(
            self.name,
            network_interface_name=self._named(80),
            resource_group_name=self.group,
            location=self.spec.region,
            enable_accelerated_networking=True,
            ip_configurations=[planned],
            network_security_group={"id": args["group_id"]},
            tags=self.tags(self.name),
            opts=self.child,
        )

    def _granted(self, secret: pulumi.Resource) -> list[pulumi.Resource]:
        fleet, spec = self.fleet, self.spec
        return granted(
            self.name,
            grants(fleet, spec, self.of),
            lambda life: key_grant(fleet, spec, self.of, secret_name(self.prefix, life)),
            self.authority.life,
            self.identity,
            self,
            secret,
        )

    def _disks(self) -> dict[int, azure.compute.Disk]:
        """By LUN."""
        return {LUNS[ring]: self._disk(ring, volume) for ring, volume in self.volumes.items()}

    def _disk(self, ring: str, volume: Volume) -> azure.compute.Disk:
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
            tags={**self.tags(name), "landbridge:disk": f"etcd-{ring}"},
            # A destroyed cluster's data stay until somebody deletes them by hand.
            opts=pulumi.ResourceOptions(parent=self, protect=True, retain_on_delete=True),
        )

    def _of_life(self, name: str) -> pulumi.Output[str]:
        """A disk's name: those of an earlier life of the cluster stay, with all that is on them."""
        named = self._named(DISK_NAME - len(f"--{NO_LIFE}"), name)
        return pulumi.Output.concat(named, "--", known_in_preview(self.authority.life, NO_LIFE))

    def _one(self, disks: dict[int, pulumi.Input[str]]) -> One:
        spec, authority = self.spec, self.authority
        sizes = {"etcd": spec.profile.etcd_size, "api": spec.profile.api_size}
        return One(
            named=machine_name(self.owner, spec, self.of.name),
            host_name=self.of.name,
            machine=self.of.name,
            group=self.group,
            region=spec.region,
            zone=self.of.zone,
            image=self.image,
            kubernetes=spec.kubernetes,
            size=sizes[self.of.role],
            identity_id=self.identity.id,
            interface_id=self.interface.id,
            disks=disks,
            root_gib=ROOT_GIB,
            script=script(spec.region, spec.bucket, self.prefix, authority.verify_key, spec.vault, authority.life),
            # Whose holder is root there anyway; sshd takes no key of this account.
            admin_key=authority.signing.public.apply(login_line),
            tags=self.tags(self.name),
        )

"""Azure: machines of one are virtual machines, secrets are in the region's vault, objects in its storage account."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from components.tags import KUBERNETES
from fleet.azure import images as names
from fleet.buckets import resource_group, vault_name
from fleet.image_names import STABLE, ImageVariant
from fleet.model import Fleet
from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.remote_execution import Instance

from ..cloud import CloudError
from .blobs import Blobs
from .clients import Clients
from .refusals import call_azure

CLUSTER, MACHINE = "landbridge:cluster", "landbridge:machine"
RUNS = ("PowerState/starting", "PowerState/running")
WORKERS = 8
VARIANT: ImageVariant = "cpu"
SECRETS = "You need the role Key Vault Secrets User on the region's vault: owning it is not enough"
READS, WRITES = "You need the role Reader on {}", "You need the role Virtual Machine Contributor on {}"
Recreate = Callable[[ClusterInfo, str], None]


class Azure:
    """One region. `recreate` makes a machine of one anew, whether or not it is there."""

    successor, heals = "no scaling group starts one: `landbridge cluster roll` does", False

    def __init__(self, clients: Clients, fleet: Fleet, region: str, recreate: Recreate) -> None:
        self.clients, self.fleet, self.region, self.recreate = clients, fleet, region, recreate
        self.group = resource_group(fleet, region)

    @cached_property
    def _vault(self) -> Any:
        return self.clients.vault(vault_name(self.fleet, self.region))

    def bucket(self, name: str) -> Blobs:
        return Blobs(self.clients, name)

    def secret(self, name: str) -> str:
        what = f"Secret {vaulted(name)} cannot be read from the vault of {self.region}"
        return str(call_azure(what, SECRETS, lambda: self._vault.get_secret(vaulted(name))).value)

    def has_secret(self, name: str) -> bool:
        """By the list of its versions: that is read without what it holds."""
        from azure.core.exceptions import ResourceNotFoundError

        def versions() -> list[Any]:
            try:
                return list(self._vault.list_properties_of_secret_versions(vaulted(name)))
            except ResourceNotFoundError:
                return []

        what = f"Secret {vaulted(name)} can't be asked after in {self.region}"
        return bool(call_azure(what, SECRETS, versions))

    def secrets(self, prefix: str) -> list[str]:
        what = f"Secrets of {self.region} can't be listed"
        found = call_azure(what, SECRETS, lambda: list(self._vault.list_properties_of_secrets()))
        return sorted(one.name for one in found if one.name.startswith(vaulted(prefix)))

    def adopt(self, name: str) -> bool:  # noqa: ARG002
        """A vault has no replicas elsewhere: what lies in it is its own."""
        return False

    def machines(self, info: ClusterInfo) -> Mapping[str, Instance]:
        what, needs = f"The machines of {info.name} can't be listed", READS.format(self.group)
        listed = call_azure(what, needs, lambda: list(self.clients.compute.virtual_machines.list(self.group)))
        mine = [one for one in listed if _of(one, info)]
        with ThreadPoolExecutor(WORKERS) as threads:
            powers = list(threads.map(self._power, (one.name for one in mine)))
        there = zip(mine, powers, strict=True)
        return {one.tags[MACHINE]: instance(one, info) for one, power in there if power in RUNS}

    def _power(self, name: str) -> str:
        """Empty for one that is not there any more, or never got hardware."""
        from azure.core.exceptions import ResourceNotFoundError

        def view() -> Any:
            try:
                return self.clients.compute.virtual_machines.instance_view(self.group, name).statuses or ()
            except ResourceNotFoundError:
                return ()

        found = call_azure(f"{name} can't be looked at", READS.format(self.group), view)
        return next((one.code for one in found if (one.code or "").startswith("PowerState/")), "")

    def replace(self, info: ClusterInfo, machine: str, instance: str) -> None:  # noqa: ARG002
        """By the engine, whose resource it is: image, custom data and size are the newest, interface and disks stay."""
        self.recreate(info, machine)

    def end(self, info: ClusterInfo, machines: Sequence[str]) -> None:
        """The whole virtual machine: its system disk goes along, its interface and other disks stay."""
        what, needs = f"The machines of {info.name} can't be listed", READS.format(self.group)
        listed = call_azure(what, needs, lambda: list(self.clients.compute.virtual_machines.list(self.group)))
        mine = {str(one.tags[MACHINE]): one.name for one in listed if _of(one, info)}
        if unknown := [name for name in machines if name not in mine]:
            raise CloudError(f"{', '.join(unknown)}: {self.group} has no such machine. `landbridge up {info.name}`")

        def gone(name: str) -> None:
            deleting = self.clients.compute.virtual_machines.begin_delete
            call_azure(
                f"{name} can't be ended", WRITES.format(self.group), lambda: deleting(self.group, mine[name]).result()
            )

        with ThreadPoolExecutor(WORKERS) as threads:
            list(threads.map(gone, machines))

    def revive(self, info: ClusterInfo, machine: str) -> None:
        self.recreate(info, machine)

    def unbalanced(self, info: ClusterInfo, machine: MachineInfo) -> str:
        """Whether it is in the balancer's pool. What the balancer's probe heard Azure tells late, if at all: who calls
        this has asked the machine itself.
        """
        pools = [pool for one in self._balancers(info) for pool in one.backend_address_pools or ()]
        members = {str(one.id).lower() for pool in pools for one in pool.backend_ip_configurations or ()}
        what, needs = f"The interfaces of {info.name} can't be listed", READS.format(self.group)
        interfaces = call_azure(what, needs, lambda: list(self.clients.network.network_interfaces.list(self.group)))
        ends = [one for interface in interfaces for one in interface.ip_configurations or ()]
        mine = [one for one in ends if one.private_ip_address == machine.address]
        if any(str(one.id).lower() in members for one in mine):
            return ""
        return "the balancer sends it nothing: it is no target"

    def probes(self, info: ClusterInfo) -> set[str]:
        found = (probe for one in self._balancers(info) for probe in one.probes or ())
        return {probe.request_path for probe in found if probe.request_path}

    def image(self, fleet: str, kubernetes: str) -> str:
        """The version of the fleet's gallery that the channel says in this region."""
        from azure.core.exceptions import ResourceNotFoundError

        def read_tags() -> Any:
            try:
                return self.clients.compute.gallery_images.get(
                    names.group(fleet), names.gallery(fleet), names.definition(kubernetes, VARIANT)
                ).tags
            except ResourceNotFoundError:
                return {}

        needs = READS.format(names.group(fleet))
        found = call_azure(f"{self.channel(fleet, kubernetes)} can't be read", needs, read_tags)
        version = names.channel_version(found or {}, self.region)
        return f"{names.image_id(self.fleet, kubernetes, VARIANT)}/versions/{version}" if version else ""

    def channel(self, fleet: str, kubernetes: str) -> str:
        image = f"{names.gallery(fleet)}/{names.definition(kubernetes, VARIANT)}"
        return f"the tag {names.tag(STABLE, self.region)} of {image} in the gallery"

    def _balancers(self, info: ClusterInfo) -> list[Any]:
        what, needs = f"The balancer of {info.name} can't be found", READS.format(self.group)
        listed = call_azure(what, needs, lambda: list(self.clients.network.load_balancers.list(self.group)))
        found = [one for one in listed if (one.tags or {}).get("landbridge:stack") == info.name]
        if not found:
            raise CloudError(f"{info.name} has no balancer in {self.group}: `landbridge up {info.name} --refresh`.")
        return found


def vaulted(name: str) -> str:
    """A secret's name in a vault, where names have no slash."""
    return name.replace("/", "--")


def instance(vm: Any, info: ClusterInfo) -> Instance:
    """Of a VirtualMachine. Its id is the one that no other machine ever has, also none of its name."""
    known = info.machines.get(vm.tags[MACHINE])
    return Instance(str(vm.vm_id), known.address if known else "", image(vm), vm.tags.get(KUBERNETES, ""))


def _of(vm: Any, info: ClusterInfo) -> bool:
    tags = vm.tags or {}
    return tags.get(CLUSTER) == info.name and MACHINE in tags


def image(vm: Any) -> str:
    """The id of the version that it started from; of Azure's market, its name."""
    profile = vm.storage_profile
    reference = profile.image_reference if profile else None
    if reference is None:
        return ""
    if reference.id:
        version = reference.exact_version
        whole = reference.id if "/versions/" in reference.id or not version else f"{reference.id}/versions/{version}"
        return str(whole)
    return ":".join(str(part) for part in (reference.publisher, reference.offer, reference.sku, reference.version))

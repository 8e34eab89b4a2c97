"""The contract between stacks: what one kind publishes and another reads. No output is a secret.

Both sides use this module, so a field that one side lacks is an error of the type checker, not of an `up`.
"""

import asyncio
from collections.abc import Awaitable
from functools import cache
from typing import Any, TypedDict, cast

import pulumi

from . import handed
from .catalogue import PROJECT


class LaptopServerOutputs(TypedDict):
    """One server for laptops."""

    zone: str  # its letter
    host: str  # its name in the region's private zone
    address: pulumi.Input[str]  # the public one, which people's profiles hold
    pool_cidr: str  # its laptops' addresses
    group: pulumi.Input[str]  # the scaling group of one that keeps it alive; on Azure the virtual machine itself


class LaptopsOutputs(TypedDict):
    """How people's laptops come into a region."""

    region: str
    cluster: str  # whose nodes the servers are

    authority: pulumi.Input[str]  # PEM of what vouches for servers and people
    authority_secret: pulumi.Input[str]  # in the region; JSON: its certificate, its key, what wraps profiles' keys
    servers: dict[str, LaptopServerOutputs]  # by name: vpn-1, vpn-2
    known_hosts: pulumi.Input[str]  # the line by which people's SSH clients know its machines; empty where keys let in


class SshOutputs(TypedDict, total=False):
    """What signs people's certificates for SSH; empty where their keys let them in."""

    authority: pulumi.Input[str]  # the public line of its key
    authority_secret: pulumi.Input[str]  # in the region; JSON: its key


class RegionOutputs(TypedDict):
    """What a region stack publishes. Ids are the cloud's own."""

    # for clusters, pools and links
    cloud: str  # aws or azure
    network_id: pulumi.Input[str]  # the region's network
    network_cidr: str  # its prefix
    private_subnet_ids: dict[str, pulumi.Input[str]]  # by zone letter
    fixed_subnet_ids: dict[str, pulumi.Input[str]]  # of planned addresses, by zone letter; on AWS the private ones
    public_subnet_ids: dict[str, pulumi.Input[str]]  # by zone letter
    route_table_ids: dict[str, pulumi.Input[str]]  # by name: public, private, private-ZONE
    # for links
    hub_id: pulumi.Input[str]  # the transit gateway, on Azure the VPN gateway
    hub_asn: int
    hub_addresses: list[pulumi.Input[str]]  # public ones of its instances; none on AWS, where each tunnel has its own
    hub_table_ids: dict[str, pulumi.Input[str]]  # by name: outward (of the network), inward (of tunnels and peerings);
    # none on Azure, whose gateways have one of their own
    # for names
    zone_id: pulumi.Input[str]  # the zone of private names
    zone_name: str  # its name
    # for machines
    bucket: str  # the fleet bucket
    key_arn: pulumi.Input[str]  # empty on Azure, which encrypts by keys of its own
    endpoint_ids: dict[str, pulumi.Input[str]]  # by name: s3, s3-interface, … on AWS; blob, vault on Azure
    # for mounts
    shares_id: pulumi.Input[str]  # the file system, on Azure the account of the shares
    share_ids: dict[str, pulumi.Input[str]]  # access points by share
    home_ids: dict[str, pulumi.Input[str]]  # access points of people's homes, by person
    share_addresses: dict[str, str]  # mount targets' addresses by zone letter
    # for people
    ssh: SshOutputs


class MachineOutputs(TypedDict):
    """One machine of a control plane."""

    role: str  # etcd or api
    zone: str  # its letter
    address: str
    host: str  # its name in the region's private zone
    group: pulumi.Input[str]  # the scaling group of one that keeps it alive; on Azure the virtual machine itself


class CopiesOutputs(TypedDict, total=False):
    """Where a cluster's snapshots and keys are once more; empty without `copies` in the fleet file."""

    region: str
    bucket: str  # of that region
    prefix: str  # of the copies in it, which are below PREFIX/RING/
    recovery_secret: pulumi.Input[str]  # with every key, here and there under one name


class KeyOutputs(TypedDict):
    """Which generations of a key are trusted, and which signs."""

    trusted: list[int]
    signing: int


class ConnectionOutputs(TypedDict):
    """Between a region's hub and one gateway of a site. Keys by the name of the secret that holds them."""

    id: pulumi.Input[str]
    site: str
    region: str
    gateway: str  # the site's public address
    secret: pulumi.Input[str]  # in the region; JSON: tunnel's name → its pre-shared key
    hub_addresses: dict[str, pulumi.Input[str]]  # public ones, by tunnel's name


class LinksOutputs(TypedDict):
    """What the links' stack publishes."""

    regions: list[str]  # those that reach each other and resolve each other's names
    connections: dict[str, ConnectionOutputs]  # with sites, by name


class ClusterOutputs(TypedDict):
    """What a cluster stack publishes. Credentials by the name of the secret that holds them: JSON {"crt", "key"}."""

    cloud: str
    region: str  # where it stands
    # for whoever calls the API
    kubernetes: str  # the version
    endpoint: str  # https://HOST:PORT
    authority: pulumi.Input[str]  # PEM of the authority that vouches for the API, or of two in a rotation
    admin_secret: pulumi.Input[str]  # in the region; landbridge-admin of landbridge:admins
    break_glass_secret: pulumi.Input[str]  # of system:masters, for the day when nothing else works
    # for pools and add-ons
    issuer: str  # of service accounts' tokens, for roles in clouds
    pods_cidr: str  # from the ledger
    services_cidr: str  # from the ledger
    # for the machines' care
    bucket: str
    prefix: str  # of the cluster's objects in the bucket and of its secrets; a machine's are below PREFIX/MACHINE
    copies: CopiesOutputs
    machines: dict[str, MachineOutputs]  # by name: role, zone, address, host and group
    known_hosts: pulumi.Input[str]  # the line by which people's SSH clients know its machines; empty where keys let in
    generations: dict[str, KeyOutputs]  # of keys that rotate, by name
    origin: str  # the secret whose keys it was rebuilt from when its region was lost; empty if it was born here


class PoolOutputs(TypedDict):
    """What a stack of a pool in a cloud publishes. Labels, taints and sizes are the fleet file's."""

    cloud: str
    region: str
    cluster: str  # whose nodes they are
    kubernetes: str  # the version of its machines' programs
    kind: str  # gpu, cpu, system or ssh
    # for whoever counts, adds and removes machines
    groups: dict[str, pulumi.Input[str]]  # scaling groups by zone letter, or the one of all zones as "all"
    completer: str  # who ends the pause before a machine's end; empty on Azure, which has none
    # for the machines' care
    role: pulumi.Input[str]  # of its machines
    firewall_id: pulumi.Input[str]  # their security group
    bucket: str  # where its bundle lies
    prefix: str  # of the pool's bundle in the bucket
    known_hosts: pulumi.Input[str]  # the line by which people's SSH clients know its machines; empty where keys let in


class SitePoolOutputs(TypedDict):
    """What a stack of a pool at a site publishes. Who its hosts are the fleet file says."""

    site: str
    region: str  # the home of its cluster, whose bucket has the bundle
    cluster: str  # whose nodes they are
    kubernetes: str  # the version of its machines' programs
    kind: str  # gpu, cpu, system or ssh
    # for enrolment and the hosts' care
    hosts: list[str]  # of a pool at a site
    bucket: str
    prefix: str  # of the pool's bundle in the bucket
    own_prefixes: dict[str, str]  # by host: of the bundles of those that do something besides, as the NFS server
    verify_key: pulumi.Input[str]  # whose signature the bundle bears: base64 of an Ed25519 key's DER form


class AddOnsOutputs(TypedDict):
    """What the stack of a cluster's add-ons publishes."""

    kubernetes: str  # the cluster's version, which kube-proxy has
    add_ons: list[str]  # names, in the order of their registration
    device_plugin: str  # NAMESPACE/NAME of the daemon set; empty in a cluster without GPUs
    autoscaler: str  # NAMESPACE/NAME of the deployment; empty in a cluster without scaling groups for work
    sites: list[str]  # where its nodes are
    regions: list[str]  # where its nodes are


Outputs = RegionOutputs | LinksOutputs | LaptopsOutputs | ClusterOutputs | PoolOutputs | SitePoolOutputs | AddOnsOutputs


def publish(outputs: Outputs) -> None:
    """Exports every field under its own name."""
    for name, value in outputs.items():
        pulumi.export(name, value)


async def publishing(outputs: Awaitable[Outputs]) -> None:
    """The same of what is still being built."""
    publish(await outputs)


async def region_outputs(region: str) -> RegionOutputs:
    """Reads a region stack's outputs. Raises RunError when that stack lacks a field: it is of an older version."""
    return cast(RegionOutputs, await _read(region, RegionOutputs))


async def cluster_outputs(cluster: str) -> ClusterOutputs:
    """The same for a cluster stack."""
    return cast(ClusterOutputs, await _read(cluster, ClusterOutputs))


async def last_published(stack: str, name: str) -> Any:
    """What the stack of this program itself published under a name in its last update; None if nothing."""
    if there := handed.here.get():
        own = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
        exported = (await _reference(own, there).get_output_details(there.exported)).value
        return exported.get(name) if isinstance(exported, dict) else None
    return await _published(stack, name)


async def _published(stack: str, name: str) -> Any:
    there = handed.here.get()
    if there and (there.outputs is None or stack in there.outputs):
        return (there.outputs or {}).get(stack, {}).get(name)
    return (await _reference(place_of(stack), there).get_output_details(name)).value


async def _read(stack: str, contract: type) -> dict[str, Any]:
    found = dict[str, Any]()
    for name in contract.__annotations__:
        value = await _published(stack, name)
        if value is None:
            value = _foreseen(stack, name)
        found[name] = _Entries(stack, name, value) if isinstance(value, dict) else value
    return found


@cache
def _reference(place: str, _reader: handed.Handed | None = None) -> pulumi.StackReference:
    """One for all of a reader's that read that stack: the engine takes no second of the same name."""
    return pulumi.StackReference(place)


def place_of(stack: str) -> str:
    """What a StackReference to a stack of the fleet names."""
    return f"{pulumi.get_organization()}/{PROJECT}/{stack}"


class _Entries(dict[str, Any]):
    """An output that is a mapping: an entry that is not there yet is treated as an output that is not."""

    def __init__(self, stack: str, name: str, value: dict[str, Any]) -> None:
        super().__init__(value)
        self.stack, self.name = stack, name

    def __missing__(self, key: str) -> Any:
        return _foreseen(self.stack, f"{self.name} {key}")


def _foreseen(stack: str, what: str) -> pulumi.Output[Any]:
    """An unknown value, in a preview: the other stack is previewed beside this one and has nothing yet.

    Raises RunError in an update, which comes after the other stack's.
    """
    if not pulumi.runtime.is_dry_run():
        raise pulumi.RunError(f"stack {stack} publishes no {what}: run `landbridge up {stack}` first")
    loop = asyncio.get_running_loop()
    value, known = loop.create_future(), loop.create_future()
    value.set_result(None)
    known.set_result(False)
    return pulumi.Output(set(), value, known)

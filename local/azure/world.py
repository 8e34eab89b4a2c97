"""All that the machines service keeps of the local Azure, as one JSON document: local/aws/world.py's counterpart."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

from local.kubernetes import BUILT_IN, VERSIONS

from . import addresses, dns_sources, metadata, names, network_state, spread
from .compute import events, images, limits, sizes
from .compute import own_api as compute
from .kinds import World
from .resources.disks import DISK
from .store import Resource
from .zones import zones

# Where a machine finds a data disk (Azure docs, "Troubleshoot Linux VM device name changes").
BY_LUN = "/dev/disk/azure/scsi1/lun"
# A machine's power → what becomes of it; of others nothing is kept.
STATES = {"running": "running", "stopping": "stopped", "stopped": "stopped"}
STATES |= {"deallocating": "stopped", "deallocated": "stopped"}
# What a bake would tag an image with: the version of Kubernetes in it.
KUBERNETES = "landbridge:kubernetes"


def world(world: World) -> dict[str, Any]:
    """What there is now."""
    world.operations.settle_due()
    events.settle_due(world)
    return {
        "restless": bool(world.operations.running() or events.waiting(world)),
        "machines": [machine(world, one) for one in limits.machines(world) if is_machine(world, one)],
        "vnets": list(network_state.vnets(world)),
        "gateways": list(network_state.gateways(world)),
        "volumes": list(_volume_ids(world)),
        "zones": list(zones(world)),
        "resolvers": list(dns_sources.resolvers(world)),
        "forwards": list(dns_sources.forwards(world)),
        "spread": list(spread.rules(world)),
        "names": [*names.ALWAYS, *names.owned(world.store)],
    }


def is_machine(world: World, one: Resource) -> bool:
    """Whether it is more than a record: it got hardware, and what it is to run at its first start is a script."""
    return one.state.get("power") in STATES and custom_data(one).startswith(b"#!") and bool(_interfaces(world, one))


def custom_data(one: Resource) -> bytes:
    encoded = one.secret.get("customData") or (one.properties.get("osProfile") or {}).get("customData")
    return base64.b64decode(encoded or "")


def machine(world: World, one: Resource) -> dict[str, Any]:
    """In the words that `local.supervisor.instance` knows."""
    placement, tags, interfaces = limits.hardware(one), one.body.get("tags") or {}, _interfaces(world, one)
    first = compute.addresses(world, one)[0]
    return {
        "id": one.properties["vmId"],
        "resource": one.id.text,
        "name": (one.properties.get("osProfile") or {}).get("computerName") or one.id.name,
        "stack": f"{tags.get('landbridge:fleet')}/{tags.get('landbridge:stack')}",
        "region": placement.location,
        "zone": placement.zone or placement.location,
        "state": STATES[one.state["power"]],
        "starts": one.state.get("starts", 0),
        "renewals": one.state.get("renewals", 0),
        "type": placement.size,
        "kubernetes": kubernetes(world, one),
        "hardware": hardware(one),
        "address": first["address"],
        "prefix": int(interfaces[0][0].partition("/")[2]),
        "cards": interfaces[1:],
        "vpc": network_state.network_of(first["subnet"]),
        "user_data": base64.b64encode(custom_data(one)).decode(),
        "volumes": list(_volumes(world, one)),
        "commands": [],
        "metadata": metadata.document(world, one),
    }


def _interfaces(world: World, one: Resource) -> list[list[str]]:
    """Each interface's addresses with their prefix lengths, the primary interface first."""
    found: dict[str, list[str]] = {}
    for configuration in compute.addresses(world, one):
        length = addresses.prefix(world.store.get(configuration["subnet"])).prefixlen
        found.setdefault(configuration["interface"], []).append(f"{configuration['address']}/{length}")
    return list(found.values())


def kubernetes(world: World, one: Resource) -> str:
    """The version in its image, as the gallery's version says it; once that is gone its own tag; else set-up's."""
    found = images.of_machine(world, one) or one
    version = (found.body.get("tags") or {}).get(KUBERNETES)
    return version if version in VERSIONS else BUILT_IN


def hardware(one: Resource) -> dict[str, Any]:
    size = sizes.find(limits.hardware(one).size)
    assert size
    disk = ((one.properties.get("storageProfile") or {}).get("osDisk") or {}).get("diskSizeGB")
    return {
        "architecture": "amd64",
        "cpus": size.cpus,
        "memory_mib": size.memory_gib * 1024,
        "gpus": size.gpus,
        "disk_gib": int(disk or images.OS_DISK_GIB),
    }


def _volumes(world: World, one: Resource) -> Iterator[dict[str, Any]]:
    """Its data disks. One that it has no more is taken away at once: Azure asks no machine."""
    for data_disk in (one.properties.get("storageProfile") or {}).get("dataDisks") or ():
        at = {"path": f"{BY_LUN}{data_disk['lun']}", "size": data_disk["diskSizeGB"]}
        yield {"id": _volume(world, one, data_disk), **at, "leaving": False, "forced": True}


def _volume(world: World, one: Resource, data_disk: dict[str, Any]) -> str:
    """What names its folder: a disk that was deleted and made again is another one."""
    disk = world.store.find(str((data_disk.get("managedDisk") or {}).get("id")))
    if disk:
        return str(disk.properties["uniqueId"])
    # A scale set's disks are no resources here.
    return hashlib.sha256(f"{one.properties['vmId']} {data_disk['lun']}".encode()).hexdigest()[:32]


def _volume_ids(world: World) -> Iterator[str]:
    yield from (str(one.properties["uniqueId"]) for one in world.store.all(DISK))
    for one in world.store.all(limits.INSTANCE):
        for data_disk in (one.properties.get("storageProfile") or {}).get("dataDisks") or ():
            yield _volume(world, one, data_disk)

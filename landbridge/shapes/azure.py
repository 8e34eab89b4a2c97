"""Sizes of virtual machines as Azure offers them in a region to a subscription ("Resource Skus - List").

The list names no model of GPUs: their sizes' names do. It says nothing of networks' speed either.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fleet.azure import sizes
from fleet.shape_book import BookShape
from landbridge.clouds.azure.refusals import call_azure
from landbridge.clouds.cloud import CloudError

from .offer import AwayError, Offer, Offers, Way

MACHINES, LOCATION, ZONE = "virtualMachines", "Location", "Zone"
SOURCE = "Microsoft.Compute/skus"
NEEDS = "You need Microsoft.Compute/skus/read on the subscription"
# In Azure's words why a subscription gets none → in ours.
REASONS = {
    "NotAvailableForSubscription": "not offered to this subscription",
    "QuotaId": "the subscription's kind of offer has none",
}
# Standard_NC40ads_H100_v5: the chip stands before the version.
CHIP = re.compile(r"Standard_[^_]+_([A-Z]+\d+[A-Za-z]*)_v\d+")
# Chips whose model is another one in sizes that begin so.
MODELS = (("Standard_N", "A100", "a100-80g"), ("Standard_NC", "H100", "h100-nvl"))
VGPU = re.compile(r"Standard_NV\d+\w*_A10_v5")
TRUE = "true"


def offers(compute: Any, location: str, types: Collection[str]) -> Offers:
    """Raises AwayError."""
    try:
        what = f"Sizes of virtual machines in {location} can't be listed"
        return call_azure(
            what, NEEDS, lambda: read(compute.resource_skus.list(filter=f"location eq '{location}'"), location, types)
        )
    except CloudError as error:
        raise AwayError(str(error).rstrip(".")) from None


def read(skus: Iterable[Any], location: str, types: Collection[str]) -> Offers:
    """`skus` are azure-mgmt-compute's ResourceSku."""
    return {one.name: _offer(one, location) for one in skus if one.resource_type == MACHINES and one.name in types}


def _offer(sku: Any, location: str) -> Offer:
    has = {one.name: str(one.value) for one in sku.capabilities or ()}
    places = [one for one in sku.location_info or () if str(one.location).lower() == location]
    zones = sorted({zone for one in places for zone in one.zones or ()})
    ways: tuple[Way, ...] = ("on demand", *(("spot",) if has.get("LowPriorityCapable", "").lower() == TRUE else ()))
    return Offer(shape(sku.name, sku.family, has, zones), ways, unfit(sku.name, has), *_restricted(sku))


def shape(name: str, family: str | None, has: Mapping[str, str], zones: Collection[str]) -> BookShape:
    """`has` are capabilities, each a text."""
    gpus, disk_mib, nvme = (int(has.get(one, 0)) for one in ("GPUs", "MaxResourceVolumeMB", "NvmeDiskSizeInMiB"))
    each = int(has.get("NvmeSizePerDiskInMiB", 0)) or nvme
    return BookShape(
        cpus=int(has["vCPUs"]),
        memory_gib=float(has["MemoryGB"]),
        gpus=gpus,
        gpu=model(name) if gpus else None,
        rdma=has.get("RdmaEnabled", "").lower() == TRUE or sizes.infiniband(name),
        local_disks=nvme // each if nvme else 1 if disk_mib else 0,
        local_disk_gb=round((each or disk_mib) * 1.048576 / 1000),
        family=family,
        zones=tuple(zones),
    )


def model(name: str) -> str | None:
    """None for a chip that nobody can tell by the name."""
    if known := sizes.size(name):
        return known.gpu
    chip = CHIP.fullmatch(name)
    named = (model for begin, of, model in MODELS if chip and chip[1] == of and name.startswith(begin))
    return next(named, chip[1].lower() if chip else None)


def unfit(name: str, has: Mapping[str, str]) -> str:
    """Empty where node images boot."""
    if has.get("CpuArchitectureType", "x64").lower() != "x64":
        return f"its processors are {has['CpuArchitectureType']}, and node images are for x64"
    if "SCSI" not in has.get("DiskControllerTypes", "SCSI"):
        return "its disks are NVMe alone, and node images are made for SCSI"
    return "it takes NVIDIA's driver for parts of GPUs, which node images lack" if VGPU.fullmatch(name) else ""


def _restricted(sku: Any) -> tuple[str, Mapping[str, str]]:
    """In the region, and by zones."""
    region, zones = "", dict[str, str]()
    for one in sku.restrictions or ():
        why = REASONS.get(one.reason_code) or f"restricted ({getattr(one.reason_code, 'value', one.reason_code)})"
        if one.type == LOCATION:
            region = why
        elif one.type == ZONE and one.restriction_info:
            zones |= dict.fromkeys(one.restriction_info.zones or (), why)
    return region, zones

"""Machine types as EC2 describes and offers them in a region, to whoever is signed in.

EC2 API reference: DescribeInstanceTypes, DescribeInstanceTypeOfferings. Both take filters, so that a type that is not
there is missing from the answer; by name it would be an error for all of them.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from fleet.aws import sizes
from fleet.shape_book import BookShape

from .offer import AwayError, Offer, Offers, Way

ARCHITECTURE, MAKER = "x86_64", "NVIDIA"
# As EC2 calls ways of selling → as people do. There is a third: capacity that somebody has reserved.
WAYS: Mapping[str, Way] = {"on-demand": "on demand", "spot": "spot"}
# One chip with more memory is another model (fleet.aws.sizes): from so many GiB on.
LARGER = {"a100": (80, "a100-80g"), "v100": (32, "v100-32g")}
SOURCE = "ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings"
NEEDS = "ec2:DescribeInstanceTypes and ec2:DescribeInstanceTypeOfferings"


def offers(ec2: Any, region: str, types: Collection[str]) -> Offers:
    """Raises AwayError."""
    asked = [{"Name": "instance-type", "Values": sorted(types)}]
    try:
        told = [*_pages(ec2, "describe_instance_types", "InstanceTypes", Filters=asked)]
        placed = [
            *_pages(
                ec2,
                "describe_instance_type_offerings",
                "InstanceTypeOfferings",
                LocationType="availability-zone",
                Filters=asked,
            )
        ]
    except NoCredentialsError:
        raise AwayError(f"nobody is signed in to AWS, which {NEEDS} need") from None
    except (BotoCoreError, ClientError) as error:
        raise AwayError(f"EC2 in {region} does not tell its machine types ({NEEDS}): {error}".rstrip(".")) from None
    return read(told, placed, region)


def _pages(ec2: Any, call: str, items: str, **given: Any) -> Iterator[Mapping[str, Any]]:
    for page in ec2.get_paginator(call).paginate(**given):
        yield from page[items]


def read(told: Collection[Mapping[str, Any]], placed: Collection[Mapping[str, Any]], region: str) -> Offers:
    """Both answers. What no zone offers is not offered, however well it is described."""
    zones = dict[str, list[str]]()
    for one in placed:
        zones.setdefault(one["InstanceType"], []).append(one["Location"].removeprefix(region))
    return {one["InstanceType"]: _offer(one, zones[name]) for one in told if (name := one["InstanceType"]) in zones}


def _offer(told: Mapping[str, Any], zones: Collection[str]) -> Offer:
    built = told["ProcessorInfo"]["SupportedArchitectures"]
    unfit = "" if ARCHITECTURE in built else f"its processors are {', '.join(built)}, and node images are for x86-64"
    ways = tuple(WAYS[one] for one in told["SupportedUsageClasses"] if one in WAYS)
    return Offer(shape(told, zones), ways, unfit)


def shape(told: Mapping[str, Any], zones: Collection[str]) -> BookShape:
    """Of GPUs those that drivers of node images are for."""
    network, storage = told["NetworkInfo"], told.get("InstanceStorageInfo") or {}
    gpus = [one for one in (told.get("GpuInfo") or {}).get("Gpus", ()) if one.get("Manufacturer") == MAKER]
    memory = {one["MemoryInfo"]["SizeInMiB"] / 1024 for one in gpus}
    disks = storage.get("Disks") or ()
    return BookShape(
        cpus=told["VCpuInfo"]["DefaultVCpus"],
        memory_gib=told["MemoryInfo"]["SizeInMiB"] / 1024,
        gpus=sum(one["Count"] for one in gpus),
        gpu=next((model(one["Name"], one["MemoryInfo"]["SizeInMiB"] / 1024) for one in gpus), None),
        gpu_memory_gib=round(min(memory), 1) if memory else None,
        efa=_efa(network),
        network=network.get("NetworkPerformance"),
        local_disks=sum(one["Count"] for one in disks),
        local_disk_gb=min((one["SizeInGB"] for one in disks), default=0),
        family=sizes.family(told["InstanceType"]),
        zones=tuple(sorted(zones)),
    )


def _efa(network: Mapping[str, Any]) -> int:
    """Machines with one card are left to the plain network: see `fleet.aws.sizes.EFA_INTERFACES`."""
    cards = int(network.get("MaximumNetworkCards") or 1)
    return int((network.get("EfaInfo") or {}).get("MaximumEfaInterfaces", 0)) if cards > 1 else 0


def model(name: str, memory_gib: float) -> str:
    """EC2's name of a GPU → as sites name it in fleet.yaml."""
    plain = name.lower().replace(" ", "-")
    least, larger = LARGER.get(plain, (0, plain))
    return larger if memory_gib >= least else plain

"""What an instance's machine has, as EC2 describes its type: moto keeps those descriptions."""

from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES

ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}
# What an image's snapshot has where nobody asked for more.
ROOT_GIB = 8


def of_type(name: str) -> dict[str, Any]:
    """The part that its type decides, as local/workers/hardware.py reads it."""
    description = INSTANCE_TYPES[name]
    architectures = description["ProcessorInfo"]["SupportedArchitectures"]
    return {
        "architecture": next(ours for theirs, ours in ARCHITECTURES.items() if theirs in architectures),
        "cpus": description["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": description["MemoryInfo"]["SizeInMiB"],
        "gpus": sum(
            one["Count"] for one in description.get("GpuInfo", {}).get("Gpus", []) if one["Manufacturer"] == "NVIDIA"
        ),
    }


def of(backend: Any, instance: Any) -> dict[str, Any]:
    mapping = instance.block_device_mapping.get(instance.root_device_name)
    volume = backend.volumes.get(mapping.volume_id) if mapping else None
    disk_gib = int(volume.size) if volume else ROOT_GIB
    # A machine has what its launch asked for: extensions/launches.py.
    return {**of_type(instance.instance_type), "disk_gib": disk_gib, "efa": getattr(instance, "efa", 0)}

"""What instance metadata tells of a machine below /metadata/instance (Azure docs, "Azure Instance Metadata Service").

Every value is a text, as Azure's are. What the local Azure has no word for is empty, as it is there.
"""

from typing import Any

from local.machines.network import Interface, hardware_address

from . import addresses, ids
from .compute import images, limits
from .compute import own_api as compute
from .kinds import World
from .store import Resource

PUBLIC = "AzurePublicCloud"


def document(world: World, machine: Resource) -> dict[str, Any]:
    return {"compute": _compute(world, machine), "network": _network(world, machine)}


def _compute(world: World, machine: Resource) -> dict[str, Any]:
    properties, hardware = machine.properties, limits.hardware(machine)
    os, tags = properties.get("osProfile") or {}, machine.body.get("tags") or {}
    linux = os.get("linuxConfiguration") or {}
    storage = properties.get("storageProfile") or {}
    image = storage.get("imageReference") or {}
    profile, owner = _profile(world, machine)
    return {
        "azEnvironment": PUBLIC,
        "customData": "",  # "This feature is deprecated and disabled"
        "evictionPolicy": profile.get("evictionPolicy") or "",
        "isHostCompatibilityLayerVm": "false",
        "licenseType": profile.get("licenseType") or "",
        "location": machine.location,
        "name": machine.body.get("name", machine.id.name),
        "offer": image.get("offer", ""),
        "osProfile": {
            "adminUsername": os.get("adminUsername", ""),
            "computerName": os.get("computerName", ""),
            "disablePasswordAuthentication": _text(bool(linux.get("disablePasswordAuthentication"))),
        },
        "osType": "Linux",
        "placementGroupId": _group_of(owner),
        "plan": {"name": "", "product": "", "publisher": ""},
        "platformFaultDomain": "0",
        "platformUpdateDomain": "0",
        "priority": "Spot" if hardware.spot else "Regular",
        "provider": "Microsoft.Compute",
        "publicKeys": [
            {name: one.get(name, "") for name in ("keyData", "path")}
            for one in (linux.get("ssh") or {}).get("publicKeys") or ()
        ],
        "publisher": image.get("publisher", ""),
        "resourceGroupName": machine.id.group,
        "resourceId": machine.id.text,
        "securityProfile": _security(profile.get("securityProfile") or {}),
        "sku": image.get("sku", ""),
        "storageProfile": _storage(world, storage),
        "subscriptionId": machine.id.subscription,
        "tags": ";".join(f"{name}:{value}" for name, value in sorted(tags.items())),
        "tagsList": [{"name": name, "value": value} for name, value in sorted(tags.items())],
        "userData": machine.secret.get("userData") or properties.get("userData") or "",
        "version": image.get("exactVersion", ""),
        "virtualMachineScaleSet": {"id": owner.id.text if owner else ""},
        "vmId": properties["vmId"],
        "vmScaleSetName": owner.id.name if owner else "",
        "vmSize": hardware.size,
        "zone": hardware.zone,
    }


def _profile(world: World, machine: Resource) -> tuple[dict[str, Any], Resource | None]:
    """Where its priority and its security stand, and its scale set."""
    if not ids.same(machine.id.type, limits.INSTANCE):
        return machine.properties, None
    assert machine.id.parent
    owner = world.store.get(machine.id.parent)
    return owner.properties["virtualMachineProfile"], owner


def _group_of(owner: Resource | None) -> str:
    """The placement group; a set of one has its own id for it here."""
    one = owner is not None and owner.properties.get("singlePlacementGroup")
    return str(owner.properties["uniqueId"]) if owner and one else ""


def _security(profile: dict[str, Any]) -> dict[str, str]:
    uefi = profile.get("uefiSettings") or {}
    return {
        "encryptionAtHost": _text(bool(profile.get("encryptionAtHost"))),
        "secureBootEnabled": _text(bool(uefi.get("secureBootEnabled"))),
        "securityType": profile.get("securityType") or "",
        "virtualTpmEnabled": _text(bool(uefi.get("vTpmEnabled"))),
    }


def _storage(world: World, storage: dict[str, Any]) -> dict[str, Any]:
    image, os = storage.get("imageReference") or {}, storage.get("osDisk") or {}
    return {
        "dataDisks": [
            {
                **_disk(world, one),
                "bytesPerSecondThrottle": "0",
                "diskCapacityBytes": str(int(one.get("diskSizeGB") or 0) << 30),
                "isSharedDisk": "false",
                "isUltraDisk": _text((one.get("managedDisk") or {}).get("storageAccountType") == "UltraSSD_LRS"),
                "lun": str(one["lun"]),
                "opsPerSecondThrottle": "0",
            }
            for one in storage.get("dataDisks") or ()
        ],
        "imageReference": {
            **{name: image.get(name, "") for name in ("id", "offer", "publisher", "sku", "version")},
            "version": image.get("version", image.get("exactVersion", "")) if image.get("publisher") else "",
        },
        "osDisk": {
            **_disk(world, {"diskSizeGB": images.OS_DISK_GIB, **os}),
            "diffDiskSettings": {"option": (os.get("diffDiskSettings") or {}).get("option", "")},
            "encryptionSettings": {"enabled": "false"},
            "osType": os.get("osType", "Linux"),
        },
        "resourceDisk": {"size": "0"},
    }


def _disk(world: World, disk_profile: dict[str, Any]) -> dict[str, Any]:
    managed = disk_profile.get("managedDisk") or {}
    disk = world.store.find(str(managed.get("id")))
    size = disk.properties["diskSizeGB"] if disk else disk_profile.get("diskSizeGB") or ""
    return {
        "caching": disk_profile.get("caching") or "None",
        "createOption": disk_profile.get("createOption", ""),
        "diskSizeGB": str(size),
        "image": {"uri": ""},
        "managedDisk": {name: managed.get(name, "") for name in ("id", "storageAccountType")},
        "name": disk_profile.get("name", ""),
        "vhd": {"uri": ""},
        "writeAcceleratorEnabled": _text(bool(disk_profile.get("writeAcceleratorEnabled"))),
    }


def _network(world: World, machine: Resource) -> dict[str, Any]:
    """Interfaces with the hardware addresses that the machine's own have."""
    by_interface: dict[str, list[dict[str, str]]] = {}
    for one in compute.addresses(world, machine):
        by_interface.setdefault(one["interface"], []).append(one)
    return {"interface": [_interface(world, configurations) for configurations in by_interface.values()]}


def _interface(world: World, configurations: list[dict[str, str]]) -> dict[str, Any]:
    prefix = addresses.prefix(world.store.get(configurations[0]["subnet"]))
    interface = Interface(tuple(f"{one['address']}/{prefix.prefixlen}" for one in configurations))
    return {
        "ipv4": {
            "ipAddress": [{"privateIpAddress": one["address"], "publicIpAddress": ""} for one in configurations],
            "subnet": [{"address": str(prefix.network_address), "prefix": str(prefix.prefixlen)}],
        },
        "ipv6": {"ipAddress": []},
        "macAddress": hardware_address(interface).replace(":", "").upper(),
    }


def _text(value: object) -> str:
    """Of true or false."""
    return str(value).lower()

"""Sizes of virtual machines that the local Azure has, with the family whose quota each counts in.

Azure documentation: "Sizes for virtual machines", the series' pages. Not all of Azure's: a size that is not here is
refused as one that the region does not offer. What the list of SKUs says of one can be set: PUT /landbridge-api/skus
{"southcentralus": {"Standard_ND96isr_H100_v5": {"zones": ["1"], "restricted": "NotAvailableForSubscription"}}}.
"""

from typing import Any, NamedTuple

from .. import regions


class Size(NamedTuple):
    """`disks`: how many data disks it takes."""

    name: str
    cpus: int
    memory_gib: int
    family: str
    gpus: int = 0
    disks: int = 32
    infiniband: bool = False


class Series(NamedTuple):
    family: str
    gib_a_cpu: int
    cpus: tuple[int, ...]


MOST = (2, 4, 8, 16, 32, 48, 64)
SERIES = {
    "Bs_v2": Series("standardBsv2Family", 4, (2, 4, 8, 16, 32)),
    "Ds_v5": Series("standardDSv5Family", 4, (*MOST, 96)),
    "Dds_v5": Series("standardDDSv5Family", 4, (*MOST, 96)),
    "Das_v5": Series("standardDASv5Family", 4, (*MOST, 96)),
    "Dads_v5": Series("standardDADSv5Family", 4, (*MOST, 96)),
    "Dls_v5": Series("standardDLSv5Family", 2, (*MOST, 96)),
    "Ds_v6": Series("standardDSv6Family", 4, (*MOST, 96, 128, 192)),
    "Es_v5": Series("standardESv5Family", 8, (2, 4, 8, 16, 20, 32, 48, 64)),
    "Eds_v5": Series("standardEDSv5Family", 8, (2, 4, 8, 16, 20, 32, 48, 64)),
    "Eas_v5": Series("standardEASv5Family", 8, (2, 4, 8, 16, 20, 32, 48, 64)),
    "Eads_v5": Series("standardEADSv5Family", 8, (2, 4, 8, 16, 20, 32, 48, 64)),
    "Fs_v2": Series("standardFSv2Family", 2, (*MOST, 72)),
}
_T4, _A100, _H100 = "Standard NCASv3_T4 Family", "StandardNCADSA100v4Family", "StandardNCadsH100v5Family"
OTHERS = (
    Size("Standard_E96s_v5", 96, 672, "standardESv5Family"),
    Size("Standard_E96ds_v5", 96, 672, "standardEDSv5Family"),
    Size("Standard_E96as_v5", 96, 672, "standardEASv5Family"),
    Size("Standard_E96ads_v5", 96, 672, "standardEADSv5Family"),
    Size("Standard_NC4as_T4_v3", 4, 28, _T4, 1, 8),
    Size("Standard_NC8as_T4_v3", 8, 56, _T4, 1, 16),
    Size("Standard_NC16as_T4_v3", 16, 110, _T4, 1, 32),
    Size("Standard_NC64as_T4_v3", 64, 440, _T4, 4, 32),
    Size("Standard_NC24ads_A100_v4", 24, 220, _A100, 1, 8),
    Size("Standard_NC48ads_A100_v4", 48, 440, _A100, 2, 16),
    Size("Standard_NC96ads_A100_v4", 96, 880, _A100, 4, 32),
    Size("Standard_NC40ads_H100_v5", 40, 320, _H100, 1, 8),
    Size("Standard_NC80adis_H100_v5", 80, 640, _H100, 2, 16),
    Size("Standard_ND96asr_v4", 96, 900, "Standard NDASv4_A100 Family", 8, 16, infiniband=True),
    Size("Standard_ND96amsr_A100_v4", 96, 1900, "standard NDAMSv4_A100Family", 8, 16, infiniband=True),
    Size("Standard_ND96isr_H100_v5", 96, 1900, "standardNDSH100v5Family", 8, 16, infiniband=True),
    Size("Standard_ND96isr_H200_v5", 96, 1850, "standardNDISRH200V5Family", 8, 16, infiniband=True),
)


def _disks(cpus: int) -> int:
    return min(32, max(4, 2 * cpus))


def _of_series() -> list[Size]:
    made = []
    for series, (family, gib_a_cpu, cpus) in SERIES.items():
        letter, rest = series[0], series[1:]
        made += [Size(f"Standard_{letter}{n}{rest}", n, n * gib_a_cpu, family, 0, _disks(n)) for n in cpus]
    return made


# By name in small letters: ARM takes any case.
SIZES = {size.name.lower(): size for size in (*_of_series(), *OTHERS)}
FAMILIES = tuple(dict.fromkeys(size.family for size in SIZES.values()))


# What the list of SKUs says otherwise, by location and size: see `put` and own_api.py.
TELLS = {"offered", "zones", "gpus", "restricted", "restricted_zones"}
_told: dict[str, dict[str, dict[str, Any]]] = {}


def find(name: str) -> Size | None:
    return SIZES.get(name.lower())


def sku(size: Size, location: str) -> dict[str, Any]:
    """As the list of SKUs tells of a size in a location (azure-mgmt-compute, `ResourceSku`)."""
    capabilities = {
        "vCPUs": size.cpus,
        "vCPUsAvailable": size.cpus,
        "MemoryGB": size.memory_gib,
        "MaxDataDiskCount": size.disks,
        "PremiumIO": "True",
        "HyperVGenerations": "V2" if size.gpus else "V1,V2",
        "CpuArchitectureType": "x64",
        "LowPriorityCapable": "True",
        "AcceleratedNetworkingEnabled": "True",
        "RdmaEnabled": str(size.infiniband),
        "DiskControllerTypes": "NVMe" if size.name.endswith("_v6") else "SCSI",
    }
    if size.gpus:
        capabilities["GPUs"] = size.gpus
    told = _told.get(location, {}).get(size.name, {})
    if "gpus" in told:
        capabilities["GPUs"] = told["gpus"]
    zones = told.get("zones", list(regions.zones(location)))
    return {
        "resourceType": "virtualMachines",
        "name": size.name,
        "tier": "Standard",
        "size": size.name.removeprefix("Standard_"),
        "family": size.family,
        "locations": [location],
        "locationInfo": [{"location": location, "zones": zones, "zoneDetails": []}],
        "capabilities": [{"name": name, "value": str(value)} for name, value in capabilities.items()],
        "restrictions": _restrictions(told, location, zones),
    }


def _restrictions(told: dict[str, Any], location: str, zones: list[str]) -> list[dict[str, Any]]:
    """As Azure says that a subscription gets none, in the location or in some of its zones."""
    reason = told.get("restricted")
    if reason is None:
        return []
    info = {"locations": [location], "zones": told.get("restricted_zones", zones)}
    kind = "Zone" if "restricted_zones" in told else "Location"
    return [{"type": kind, "values": [location], "restrictionInfo": info, "reasonCode": reason}]


def offered(location: str) -> list[Size]:
    """Those that the location has."""
    return [size for size in SIZES.values() if _told.get(location, {}).get(size.name, {}).get("offered", True)]


def put(told: dict[str, dict[str, dict[str, Any]]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Replaces all. Raises ValueError."""
    for location, by_size in told.items():
        if location not in regions.NAMES:
            raise ValueError(f"Azure has no location {location}")
        for name, one in by_size.items():
            if find(name) is None or (strange := one.keys() - TELLS):
                raise ValueError(f"there is no size {name}" if find(name) is None else f"{name} has no {strange}")
    _told.clear()
    _told.update(told)
    return _told

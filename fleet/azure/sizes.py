"""Azure's machine types: how large they are, their GPUs, and the family whose quota they count in.

Azure documentation: "Sizes for virtual machines", the series' pages; families as `az vm list-skus` has them. x86 alone.
Not here: series from v6 on, whose disks are NVMe alone, and NVads A10 v5, which takes NVIDIA's vGPU driver: the images
are made for neither.
"""

import datetime
import re
from typing import NamedTuple

# When all of it was last compared with what Azure tells.
DATE, SOURCE = datetime.date(2026, 11, 28), "the tables that come with Landbridge"


class AzureSize(NamedTuple):
    """`gpu` is their model, as sites name it in fleet.yaml."""

    cpus: int
    memory_gib: int
    family: str
    gpus: int = 0
    gpu: str | None = None


class Series(NamedTuple):
    """Sizes that have so many GiB for each vCPU; what is larger follows no rule."""

    family: str
    gib_a_cpu: int
    cpus: tuple[int, ...]


MOST = (2, 4, 8, 16, 32, 48, 64)
D, E = (*MOST, 96), (2, 4, 8, 16, 20, 32, 48, 64)
# Standard_, letters, vCPUs, the rest: Standard_D8s_v5 is Ds_v5 with 8.
SERIES = {
    "Bs_v2": Series("standardBsv2Family", 4, (2, 4, 8, 16, 32)),
    "Ds_v5": Series("standardDSv5Family", 4, D),
    "Dds_v5": Series("standardDDSv5Family", 4, D),
    "Das_v5": Series("standardDASv5Family", 4, D),
    "Dads_v5": Series("standardDADSv5Family", 4, D),
    "Dls_v5": Series("standardDLSv5Family", 2, D),
    "Es_v5": Series("standardESv5Family", 8, E),
    "Eds_v5": Series("standardEDSv5Family", 8, E),
    "Eas_v5": Series("standardEASv5Family", 8, E),
    "Eads_v5": Series("standardEADSv5Family", 8, E),
    "Fs_v2": Series("standardFSv2Family", 2, (*MOST, 72)),
}
_T4, _A100 = "Standard NCASv3_T4 Family", "StandardNCADSA100v4Family"
OTHERS = {
    "Standard_E96s_v5": AzureSize(96, 672, "standardESv5Family"),
    "Standard_E96ds_v5": AzureSize(96, 672, "standardEDSv5Family"),
    "Standard_E96as_v5": AzureSize(96, 672, "standardEASv5Family"),
    "Standard_E96ads_v5": AzureSize(96, 672, "standardEADSv5Family"),
    "Standard_NC4as_T4_v3": AzureSize(4, 28, _T4, 1, "t4"),
    "Standard_NC8as_T4_v3": AzureSize(8, 56, _T4, 1, "t4"),
    "Standard_NC16as_T4_v3": AzureSize(16, 110, _T4, 1, "t4"),
    "Standard_NC64as_T4_v3": AzureSize(64, 440, _T4, 4, "t4"),
    "Standard_NC24ads_A100_v4": AzureSize(24, 220, _A100, 1, "a100-80g"),
    "Standard_NC48ads_A100_v4": AzureSize(48, 440, _A100, 2, "a100-80g"),
    "Standard_NC96ads_A100_v4": AzureSize(96, 880, _A100, 4, "a100-80g"),
    # 94 GB each, and a bridge between two: another model than those of ND.
    "Standard_NC40ads_H100_v5": AzureSize(40, 320, "StandardNCadsH100v5Family", 1, "h100-nvl"),
    "Standard_NC80adis_H100_v5": AzureSize(80, 640, "StandardNCadsH100v5Family", 2, "h100-nvl"),
    "Standard_ND96asr_v4": AzureSize(96, 900, "Standard NDASv4_A100 Family", 8, "a100"),
    "Standard_ND96amsr_A100_v4": AzureSize(96, 1900, "standard NDAMSv4_A100Family", 8, "a100-80g"),
    "Standard_ND96isr_H100_v5": AzureSize(96, 1900, "standardNDSH100v5Family", 8, "h100"),
    "Standard_ND96isr_H200_v5": AzureSize(96, 1850, "standardNDISRH200V5Family", 8, "h200"),
}
FAMILIES = tuple(sorted({*(series.family for series in SERIES.values()), *(size.family for size in OTHERS.values())}))
# Sizes say so themselves: an r among the small letters behind the vCPUs ("Azure VM sizes naming conventions").
RDMA = re.compile(r"Standard_[A-Z]+\d+(-\d+)?[a-z]*r[a-z]*(_.*)?")
_NAME = re.compile(r"Standard_([A-Z]+)(\d+)([a-z]*_v\d+)")


def series_of(instance_type: str) -> tuple[str, int] | None:
    """Key of SERIES and vCPUs, as the name says; None for a name of another form."""
    found = _NAME.fullmatch(instance_type)
    return (f"{found[1]}{found[3]}", int(found[2])) if found else None


def size(instance_type: str) -> AzureSize | None:
    """None for a type that is not known here."""
    if found := OTHERS.get(instance_type):
        return found
    name, cpus = series_of(instance_type) or ("", 0)
    series = SERIES.get(name)
    if series is None or cpus not in series.cpus:
        return None
    return AzureSize(cpus, cpus * series.gib_a_cpu, series.family)


def infiniband(instance_type: str) -> bool:
    """Whether a machine has InfiniBand, which ends with its scale set's placement group."""
    return RDMA.fullmatch(instance_type) is not None

"""Which GPU a cloud's machine has, by the family of its instance type, and which models a machine room's may be.

Clouds' models, in `fleet.aws.sizes` and `fleet.azure.sizes`, carry the names that sites use in fleet.yaml.
"""

import difflib
from collections.abc import Iterator

from .aws import sizes as aws_sizes
from .azure import sizes as azure_sizes
from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]

# NVIDIA's for machine rooms since Pascal, and what desks have ("Data Center GPUs", "GeForce", "RTX"), beside clouds'.
LISTED = {
    *aws_sizes.GPUS.values(),
    *("p4", "p40", "p100", "p100-12g", "v100", "v100-32g", "t4"),
    *("a2", "a10", "a16", "a30", "a40", "a100", "a100-80g", "a800"),
    *("l2", "l4", "l20", "l40", "l40s", "h20", "h100", "h100-nvl", "h100-pcie", "h200", "h200-nvl", "h800", "gh200"),
    *("b100", "b200", "b300", "gb200", "gb300"),
    *("titan-v", "titan-rtx", "gtx-1080", "gtx-1080-ti", "rtx-2080", "rtx-2080-ti", "rtx-3080", "rtx-3090"),
    *("rtx-3090-ti", "rtx-4080", "rtx-4090", "rtx-5080", "rtx-5090", "rtx-5000", "rtx-6000", "rtx-8000"),
    *("rtx-a4000", "rtx-a4500", "rtx-a5000", "rtx-a5500", "rtx-a6000"),
    *("rtx-4000-ada", "rtx-5000-ada", "rtx-6000-ada", "rtx-pro-4500", "rtx-pro-5000", "rtx-pro-6000"),
}


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Hosts whose model is none: jobs ask for memory by it, and a slip would have them wait for ever."""
    for name, site in fleet.sites.items():
        for host_name, host in site.hosts.items():
            if host.gpu and host.gpu not in LISTED and not host.gpu_unlisted:
                close = difflib.get_close_matches(host.gpu, sorted(LISTED), 1)
                meant = f"Perhaps you mean {close[0]}; if not" if close else "If it is meant"
                what = f"host {host_name} of {name} has the GPU model {host.gpu}, which is not listed here"
                yield ("sites", name, "hosts", host_name, "gpu"), what, f"{meant}, add gpu_unlisted: true beside it"


def model(instance_type: str) -> str | None:
    """None for a type without GPUs, and for a family that is not known here."""
    if theirs := azure_sizes.size(instance_type):
        return theirs.gpu
    return aws_sizes.gpu(instance_type)

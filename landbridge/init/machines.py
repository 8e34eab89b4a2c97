"""Which machines a fleet begins with. How large they are and what GPUs they have, `fleet` knows."""

from collections.abc import Mapping
from typing import NamedTuple

from fleet import gpus
from fleet.aws import sizes as aws_sizes
from fleet.azure import sizes as azure_sizes
from fleet.model import Cloud


class Kinds(NamedTuple):
    """Instance types by the kind of pool; `gpus` are those of one GPU machine."""

    gpu: str
    gpus: int
    cpu: str
    system: str


FIRST: Mapping[Cloud, Kinds] = {
    "aws": Kinds("p5.48xlarge", 8, "c7i.8xlarge", "m7i.large"),
    "azure": Kinds("Standard_ND96isr_H100_v5", 8, "Standard_F16s_v2", "Standard_D4s_v5"),
}
ZONES: Mapping[Cloud, tuple[str, ...]] = {"aws": ("a", "b", "c"), "azure": ("1", "2", "3")}
# Where AWS's letters have gaps for accounts of today. Two zones at least are everywhere.
GAPS: Mapping[str, tuple[str, ...]] = {
    "ap-northeast-1": ("a", "c", "d"),
    "ca-central-1": ("a", "b", "d"),
    "us-west-1": ("a", "c"),
}


def zones(cloud: Cloud, region: str) -> tuple[str, ...]:
    """As many as etcd wants to outlive one, where a region has them."""
    return GAPS.get(region, ZONES[cloud])


def machines(cloud: Cloud, wanted: int) -> int:
    """How many GPU machines have so many GPUs: whole ones."""
    return -(-wanted // FIRST[cloud].gpus)


def others(cloud: Cloud) -> dict[str, str]:
    """Each other GPU model: model → a family of AWS, or a type of Azure, that has it."""
    first = gpus.model(FIRST[cloud].gpu)
    known = aws_sizes.GPUS if cloud == "aws" else {name: size.gpu for name, size in azure_sizes.OTHERS.items()}
    return {model: name for name, model in known.items() if model and model != first}

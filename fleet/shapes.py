"""How large a cloud's machine types are: what a machine that does not exist yet will have.

EC2 user guide: "Amazon EC2 instance types", the families' pages. x86 alone: the images are for nothing else. Azure's
are in `fleet.azure.sizes`.
"""

import re
from typing import NamedTuple

from .azure import sizes as azure_sizes
from .model import Cloud


class Shape(NamedTuple):
    """Memory as the type is sold."""

    cpus: int
    memory_gib: int


# Families of which every size has so many GiB for each vCPU.
GIB_A_CPU = {
    **dict.fromkeys(("c6i", "c6a", "c7i", "c7a", "c8i"), 2),
    **dict.fromkeys(("m6i", "m6a", "m7i", "m7a", "m8i"), 4),
    **dict.fromkeys(("r6i", "r6a", "r7i", "r7a", "r8i"), 8),
    **dict.fromkeys(("g4dn", "g5"), 4),
}
CPUS = {"large": 2, "xlarge": 4, **{f"{n}xlarge": 4 * n for n in (2, 4, 8, 12, 16, 24, 32, 48)}}
# Those that follow no rule.
OTHERS = {
    "t3.small": Shape(2, 2),
    "t3.medium": Shape(2, 4),
    "t3.large": Shape(2, 8),
    "t3.xlarge": Shape(4, 16),
    "t3.2xlarge": Shape(8, 32),
    "g6.xlarge": Shape(4, 16),
    "g6.2xlarge": Shape(8, 32),
    "g6.4xlarge": Shape(16, 64),
    "g6.8xlarge": Shape(32, 128),
    "g6.12xlarge": Shape(48, 192),
    "g6.16xlarge": Shape(64, 256),
    "g6.24xlarge": Shape(96, 384),
    "g6.48xlarge": Shape(192, 768),
    "g6e.xlarge": Shape(4, 32),
    "g6e.2xlarge": Shape(8, 64),
    "g6e.4xlarge": Shape(16, 128),
    "g6e.8xlarge": Shape(32, 256),
    "g6e.12xlarge": Shape(48, 384),
    "g6e.16xlarge": Shape(64, 512),
    "g6e.24xlarge": Shape(96, 768),
    "g6e.48xlarge": Shape(192, 1536),
    "p4d.24xlarge": Shape(96, 1152),
    "p4de.24xlarge": Shape(96, 1152),
    "p5.4xlarge": Shape(16, 256),
    "p5.48xlarge": Shape(192, 2048),
    "p5e.48xlarge": Shape(192, 2048),
    "p5en.48xlarge": Shape(192, 2048),
    "p6-b200.48xlarge": Shape(192, 2048),
}


# How each cloud writes its types, and one that everybody knows.
FORMS: dict[Cloud, tuple[re.Pattern[str], str]] = {
    "aws": (re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+"), "p5.48xlarge"),
    "azure": (re.compile(r"Standard_[A-Za-z0-9_-]+"), "Standard_ND96isr_H100_v5"),
}
# Where users look up what is known.
TABLES: dict[Cloud, str] = {"aws": "fleet/shapes.py", "azure": "fleet/azure/sizes.py"}


def shape(instance_type: str) -> Shape | None:
    """None for a type that is not known here. Each cloud has names that no other has."""
    if theirs := azure_sizes.size(instance_type):
        return Shape(theirs.cpus, theirs.memory_gib)
    family, _, size = instance_type.partition(".")
    if found := OTHERS.get(instance_type):
        return found
    if family in GIB_A_CPU and size in CPUS:
        return Shape(CPUS[size], CPUS[size] * GIB_A_CPU[family])
    return None

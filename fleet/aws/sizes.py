"""AWS's machine types: how large they are, and their GPUs.

EC2 user guide: "Amazon EC2 instance types", the families' pages, and "Amazon EC2 accelerated computing instances". x86
alone: the images are for nothing else.
"""

import datetime
import re
from typing import NamedTuple

# When all of it was last compared with what EC2 tells: tests/fleet/test_shapes.py.
DATE, SOURCE = datetime.date(2026, 11, 28), "the tables that come with Landbridge"


class AwsSize(NamedTuple):
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
    "t3.small": AwsSize(2, 2),
    "t3.medium": AwsSize(2, 4),
    "t3.large": AwsSize(2, 8),
    "t3.xlarge": AwsSize(4, 16),
    "t3.2xlarge": AwsSize(8, 32),
    "g6.xlarge": AwsSize(4, 16),
    "g6.2xlarge": AwsSize(8, 32),
    "g6.4xlarge": AwsSize(16, 64),
    "g6.8xlarge": AwsSize(32, 128),
    "g6.12xlarge": AwsSize(48, 192),
    "g6.16xlarge": AwsSize(64, 256),
    "g6.24xlarge": AwsSize(96, 384),
    "g6.48xlarge": AwsSize(192, 768),
    "g6e.xlarge": AwsSize(4, 32),
    "g6e.2xlarge": AwsSize(8, 64),
    "g6e.4xlarge": AwsSize(16, 128),
    "g6e.8xlarge": AwsSize(32, 256),
    "g6e.12xlarge": AwsSize(48, 384),
    "g6e.16xlarge": AwsSize(64, 512),
    "g6e.24xlarge": AwsSize(96, 768),
    "g6e.48xlarge": AwsSize(192, 1536),
    "p4d.24xlarge": AwsSize(96, 1152),
    "p4de.24xlarge": AwsSize(96, 1152),
    "p5.4xlarge": AwsSize(16, 256),
    "p5.48xlarge": AwsSize(192, 2048),
    "p5e.48xlarge": AwsSize(192, 2048),
    "p5en.48xlarge": AwsSize(192, 2048),
    "p6-b200.48xlarge": AwsSize(192, 2048),
}
# Family → model. Two families with one chip and different memory have different models: jobs ask for memory by it.
GPUS = {
    "g4dn": "t4",
    "g5": "a10g",
    "g6": "l4",
    "g6e": "l40s",
    "p4d": "a100",
    "p4de": "a100-80g",
    "p5": "h100",
    "p5e": "h200",
    "p5en": "h200",
    "p6-b200": "b200",
}
# Types that have more than one.
MANY_GPUS = {
    "g4dn.12xlarge": 4,
    "g5.12xlarge": 4,
    "g5.24xlarge": 4,
    "g5.48xlarge": 8,
    "g6.12xlarge": 4,
    "g6.24xlarge": 4,
    "g6.48xlarge": 8,
    "g6e.12xlarge": 4,
    "g6e.24xlarge": 4,
    "g6e.48xlarge": 8,
    "p4d.24xlarge": 8,
    "p4de.24xlarge": 8,
    "p5.48xlarge": 8,
    "p5e.48xlarge": 8,
    "p5en.48xlarge": 8,
    "p6-b200.48xlarge": 8,
}
# Instance type → its network cards, each with an interface of the fabric. Those whose GPUs are sold for work on many
# machines; smaller types have one slow card, and the plain network does for them.
EFA_INTERFACES = {
    "g6e.24xlarge": 2,
    "g6e.48xlarge": 4,
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
}
# Letters that a type begins with → the family whose quota it counts in. Others have quotas of their own.
FAMILIES = {**dict.fromkeys("acdhimrtz", "standard"), "g": "g", "vt": "g", "p": "p"}


def size(instance_type: str) -> AwsSize | None:
    """None for a type that is not known here."""
    family, _, name = instance_type.partition(".")
    if found := OTHERS.get(instance_type):
        return found
    if family in GIB_A_CPU and name in CPUS:
        return AwsSize(CPUS[name], CPUS[name] * GIB_A_CPU[family])
    return None


def gpu(instance_type: str) -> str | None:
    """The model; None for a type without GPUs, and for a family that is not known here."""
    return GPUS.get(instance_type.partition(".")[0])


def gpu_count(instance_type: str) -> int:
    """Of a type that is known here."""
    return MANY_GPUS.get(instance_type, 1) if gpu(instance_type) else 0


def family(instance_type: str) -> str | None:
    """Whose quota a type counts in; None for one that is not known here."""
    letters = re.match(r"[a-z]+", instance_type)
    return FAMILIES.get(letters[0]) if letters else None

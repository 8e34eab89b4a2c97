"""How large a cloud's machine types are: what a machine that does not exist yet will have.

Clouds' tables are in `fleet.aws.sizes` and `fleet.azure.sizes`.
"""

import re
from typing import NamedTuple

from .aws import sizes as aws_sizes
from .azure import sizes as azure_sizes
from .model import Cloud


class Shape(NamedTuple):
    """Memory as the type is sold."""

    cpus: int
    memory_gib: int


# How each cloud writes its types, and one that everybody knows.
FORMS: dict[Cloud, tuple[re.Pattern[str], str]] = {
    "aws": (re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+"), "p5.48xlarge"),
    "azure": (re.compile(r"Standard_[A-Za-z0-9_-]+"), "Standard_ND96isr_H100_v5"),
}
# Where users look up what is known.
TABLES: dict[Cloud, str] = {"aws": "fleet/aws/sizes.py", "azure": "fleet/azure/sizes.py"}


def shape(instance_type: str) -> Shape | None:
    """None for a type that is not known here. Each cloud has names that no other has."""
    found = azure_sizes.size(instance_type) or aws_sizes.size(instance_type)
    return Shape(found.cpus, found.memory_gib) if found else None

"""What a cloud's machine types have: what a machine that does not exist yet will have.

The newer one counts of the fleet's shape book (`fleet.shape_book`) and the tables that come with Landbridge,
`fleet.aws.sizes` and `fleet.azure.sizes`. These have no zones, and of no region more than of another.
"""

import datetime
import re
from typing import NamedTuple

from . import dated
from .aws import sizes as aws_sizes
from .azure import sizes as azure_sizes
from .model import Cloud, Fleet, Pool
from .shape_book import BookShape


class Shape(NamedTuple):
    """Memory as the type is sold."""

    cpus: int
    memory_gib: float


class Listed(NamedTuple):
    """As `source` said on `date`."""

    shape: BookShape
    source: str
    date: datetime.date

    def days_old(self, today: datetime.date) -> int:
        return dated.days_old(self.date, today)


# How each cloud writes its types, and one that everybody knows.
FORMS: dict[Cloud, tuple[re.Pattern[str], str]] = {
    "aws": (re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+"), "p5.48xlarge"),
    "azure": (re.compile(r"Standard_[A-Za-z0-9_-]+"), "Standard_ND96isr_H100_v5"),
}
# What to do where a type must be known and is not.
FETCH = "Fetch it with `landbridge shapes refresh`, or choose another type"


def shape(instance_type: str) -> Shape | None:
    """By the tables that come with Landbridge; None for a type that they lack."""
    found = shipped(instance_type)
    return Shape(found.shape.cpus, found.shape.memory_gib) if found else None


def shipped(instance_type: str) -> Listed | None:
    """By the same tables, all of it."""
    if azure := azure_sizes.size(instance_type):
        held = BookShape(
            cpus=azure.cpus,
            memory_gib=azure.memory_gib,
            gpus=azure.gpus,
            gpu=azure.gpu,
            rdma=azure_sizes.infiniband(instance_type),
            family=azure.family,
        )
        return Listed(held, azure_sizes.SOURCE, azure_sizes.DATE)
    if aws := aws_sizes.size(instance_type):
        gpus = aws_sizes.gpu_count(instance_type)
        held = BookShape(
            cpus=aws.cpus,
            memory_gib=aws.memory_gib,
            gpus=gpus,
            gpu=aws_sizes.gpu(instance_type),
            efa=aws_sizes.EFA_INTERFACES.get(instance_type, 0),
            family=aws_sizes.family(instance_type),
        )
        return Listed(held, aws_sizes.SOURCE, aws_sizes.DATE)
    return None


def listed(fleet: Fleet, region: str, instance_type: str) -> Listed | None:
    """None where nobody has told it."""
    book, tables = fleet.shape_book.get(region), shipped(instance_type)
    held = book.types.get(instance_type) if book else None
    found = [Listed(held, book.source, book.date)] if book and held else []
    return max([*found, *([tables] if tables else [])], key=lambda one: one.date, default=None)


def of_pool(fleet: Fleet, pool: Pool) -> BookShape | None:
    """Of one that stands in a region."""
    found = listed(fleet, pool.region, pool.instance_type) if pool.region and pool.instance_type else None
    return found.shape if found else None


def efa(fleet: Fleet, pool: Pool) -> int:
    """Network cards with EFA; 0 for machines without."""
    found = of_pool(fleet, pool)
    return found.efa if found else 0


def rdma(fleet: Fleet, pool: Pool) -> bool:
    """Whether machines have InfiniBand. Azure's names say so, too."""
    found = of_pool(fleet, pool)
    return found.rdma if found else azure_sizes.infiniband(pool.instance_type or "")


def gpu(fleet: Fleet, pool: Pool) -> str | None:
    """The model. AWS has one a family, so that it is known where a size is not."""
    found = of_pool(fleet, pool)
    return found.gpu if found else aws_sizes.gpu(pool.instance_type or "")

"""fleet.shapes.yaml: what machine types have in the fleet's regions, with the day of it, beside the fleet file.

Only `landbridge shapes refresh` writes it. A fleet without it goes by the tables that come with Landbridge (see
`fleet.shapes`).
"""

import datetime
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from . import committed_files

HEADER = """\
# What machine types have, as the clouds tell it. Written by `landbridge shapes refresh`: commit it.
"""


YAMLS_OWN = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


class BookShape(BaseModel):
    """Of one machine. Memory as the type is sold. `gpu` is the model, as sites name it in fleet.yaml.

    `efa` are network cards with EFA, `rdma` is InfiniBand. `network` is in the cloud's words. Local disks are so many
    of so many GB each. `family` is that of the quota: its key in the fleet file, in Azure its name there. `zones` are
    those that have the type, as the fleet file writes them; None where nobody has asked.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cpus: int = Field(gt=0)
    memory_gib: float = Field(gt=0)
    gpus: int = Field(default=0, ge=0)
    gpu: str | None = None
    gpu_memory_gib: float | None = None
    efa: int = Field(default=0, ge=0)
    rdma: bool = False
    network: str | None = None
    local_disks: int = Field(default=0, ge=0)
    local_disk_gb: int = Field(default=0, ge=0)
    family: str | None = None
    zones: tuple[str, ...] | None = None


class RegionShapes(BaseModel):
    """By instance type, as `source` said on `date` (UTC)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: datetime.date
    source: str = Field(min_length=1)
    types: dict[str, BookShape]


# By region.
Book = Mapping[str, RegionShapes]
_FILE: TypeAdapter[dict[str, RegionShapes]] = TypeAdapter(dict[str, RegionShapes])


def book_path(fleet_path: Path) -> Path:
    """fleet.yaml → fleet.shapes.yaml, beside it."""
    return fleet_path.with_name(f"{fleet_path.stem}.shapes.yaml")


def load(path: Path) -> Book:
    """Empty when there is no file. Raises FleetError when it is damaged."""
    return committed_files.load(path, _FILE)


def render(book: Book) -> str:
    """One line a type, so that a review shows which ones changed."""
    return HEADER + "".join(f"{line}\n" for line in _lines(book))


def _lines(book: Book) -> Iterator[str]:
    for region, listed in sorted(book.items()):
        yield f"{region}:"
        yield f"  date: {listed.date}"
        yield f"  source: {_written(listed.source)}"
        yield "  types:" + ("" if listed.types else " {}")
        for name, shape in sorted(listed.types.items()):
            told = shape.model_dump(mode="json", exclude_defaults=True)
            yield f"    {name}: {{{', '.join(f'{key}: {_written(value)}' for key, value in told.items())}}}"


def _written(value: Any) -> str:
    """Texts in quotes where YAML would take them for something else: zones of Azure are numbers."""
    if isinstance(value, list):
        return f"[{', '.join(_written(one) for one in value)}]"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str):
        return value if value.isidentifier() and value.lower() not in YAMLS_OWN else json.dumps(value)
    return str(value).lower()


def write(path: Path, book: Book) -> None:
    committed_files.write(path, render(book))

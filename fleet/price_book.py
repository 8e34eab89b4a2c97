"""fleet.prices.yaml: what machines cost in the fleet's regions, with the day of it, committed beside the fleet file.

Only `landbridge prices refresh` writes it. A fleet without it goes by the lists that come with Landbridge (see
`fleet.prices`).
"""

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from . import committed_files

Kind = Literal["on_demand", "spot"]
KIND_WORDS: Mapping[Kind, str] = {"on_demand": "on demand", "spot": "spot"}
HEADER = """\
# What machines cost: US dollars an hour, Linux, before any discount. Written by `landbridge prices refresh`: commit it.
# Prices that you pay instead stand in the fleet file, under regions.REGION.prices.
"""


class PriceList(BaseModel):
    """US dollars an hour by instance type, as `source` said on `date` (UTC)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: datetime.date
    source: str = Field(min_length=1)
    usd_per_hour: dict[str, Annotated[float, Field(gt=0)]]


class RegionPrices(BaseModel):
    """Of one region; None for what was never fetched."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    on_demand: PriceList | None = None
    spot: PriceList | None = None


# By region.
Book = Mapping[str, RegionPrices]
_FILE: TypeAdapter[dict[str, RegionPrices]] = TypeAdapter(dict[str, RegionPrices])


def book_path(fleet_path: Path) -> Path:
    """fleet.yaml → fleet.prices.yaml, beside it."""
    return fleet_path.with_name(f"{fleet_path.stem}.prices.yaml")


def load(path: Path) -> Book:
    """Empty when there is no file. Raises FleetError when it is damaged."""
    return committed_files.load(path, _FILE)


def render(book: Book) -> str:
    """One line a price, so that a review shows which ones changed."""
    return HEADER + "".join(f"{line}\n" for line in _lines(book))


def _lines(book: Book) -> Iterator[str]:
    for region, prices in sorted(book.items()):
        yield f"{region}:"
        for kind in KIND_WORDS:
            if (listed := getattr(prices, kind)) is not None:
                yield f"  {kind}:"
                yield f"    date: {listed.date}"
                yield f"    source: {listed.source}"
                yield "    usd_per_hour:" + ("" if listed.usd_per_hour else " {}")
                yield from (f"      {name}: {usd:.10g}" for name, usd in sorted(listed.usd_per_hour.items()))


def write(path: Path, book: Book) -> None:
    committed_files.write(path, render(book))

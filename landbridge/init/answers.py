"""What a fleet is made of at the beginning, and how each answer is read.

What is a good one, the fleet's loader decides.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from fleet import hubs
from fleet.model import Cloud
from fleet.rules import BUCKET_FOLDERS
from fleet.yaml_subset import NAME

T = TypeVar("T")
NONE = "none"
DEFAULT_NAME = "fleet"


class Place(NamedTuple):
    """A region of a cloud."""

    cloud: Cloud
    region: str

    def __str__(self) -> str:
        return f"{self.cloud}:{self.region}"


@dataclass(frozen=True)
class Answers:
    """`gpus` are those that pools in clouds may hold at a time, `reserved` are prefixes that something else uses.

    The first region is the home of the cluster.
    """

    name: str = DEFAULT_NAME
    regions: tuple[Place, ...] = (Place("aws", "us-east-1"),)
    sites: tuple[str, ...] = ()
    gpus: int = 64
    reserved: tuple[str, ...] = ()


def name_of(folder: str) -> str:
    """What a fleet in a folder of this name is called, unless somebody says otherwise."""
    plain = re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")
    return plain if re.fullmatch(NAME, plain) and plain not in BUCKET_FOLDERS else DEFAULT_NAME


def a_name(text: str) -> str:
    """Raises ValueError for none."""
    if not text.strip():
        raise ValueError("A fleet has a name, such as lab")
    return text.strip()


def places(text: str) -> tuple[Place, ...]:
    """'aws:us-east-1, westeurope' → two. Raises ValueError for a cloud that is none, and for no region at all."""
    found = tuple(_place(one) for one in _listed(text))
    if not found:
        raise ValueError("A fleet has a region in a cloud, such as aws:us-east-1")
    return _once(found)


def names(text: str) -> tuple[str, ...]:
    """'lab, attic' → two; 'none' → none. Raises ValueError for one that stands twice."""
    return _once(_listed(text))


def number(text: str) -> int:
    """'1,600' → 1600. Raises ValueError."""
    plain = re.sub(r"[,_ ]", "", text)
    if not re.fullmatch(r"\d{1,9}", plain):
        raise ValueError(f"{text!r} is no number of GPUs. Write one, such as 64, or 0 for none")
    return int(plain)


def _listed(text: str) -> tuple[str, ...]:
    parts = tuple(part for part in re.split(r"[,\s]+", text.strip()) if part)
    return () if parts == (NONE,) else parts


def _place(text: str) -> Place:
    cloud, colon, region = text.partition(":")
    if not colon:
        known = [one for one, regions in hubs.REGIONS.items() if text in regions]
        if not known:
            raise ValueError(f"{text} is a region of no cloud that is known here. Write CLOUD:REGION, as aws:us-east-1")
        return Place(known[0], text)
    for one in hubs.REGIONS:
        if one == cloud:
            return Place(one, region)
    raise ValueError(f"{cloud} is no cloud that is known here. Known: {', '.join(hubs.REGIONS)}")


def _once(found: Iterable[T]) -> tuple[T, ...]:
    seen = tuple(found)
    twice = next((one for n, one in enumerate(seen) if one in seen[:n]), None)
    if twice is not None:
        raise ValueError(f"{twice} stands twice. Name it once")
    return seen

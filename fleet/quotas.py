"""What a cloud lets an account run in a region at a time: vCPUs by family of machine types, spot and on demand apart.

Amazon EC2 user guide: "Amazon EC2 On-Demand Instance quotas", "Spot Instance quotas". Azure: "vCPU quotas", one for
each family of sizes, one for all of them together, and one for all spot machines. The fleet file says what an account
was granted; pools must fit into it when all of them are as large as they may grow.
"""

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from . import shapes
from .aws import sizes as aws_sizes
from .azure import sizes as azure_sizes
from .model import Cloud, Fleet, Pool, Quotas, Region

Wrong = tuple[tuple[str | int, ...], str, str]


class Quota(NamedTuple):
    """`code` is that of Service Quotas, where one looks it up and asks for more."""

    name: str
    code: str


# Key in the fleet file → the quota.
QUOTAS = {
    "standard": Quota("Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "L-1216C47A"),
    "g": Quota("Running On-Demand G and VT instances", "L-DB2E81BA"),
    "p": Quota("Running On-Demand P instances", "L-417A185B"),
    "standard_spot": Quota("All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "L-34B43A08"),
    "g_spot": Quota("All G and VT Spot Instance Requests", "L-3819A6DF"),
    "p_spot": Quota("All P Spot Instance Requests", "L-7212CCBC"),
}
# Azure's, by the names that `az vm list-usage` has for them; a family's is its own.
AZURE_QUOTAS = {"cores": "cores", "spot": "lowPriorityCores"}
FAMILIES_KEY = "families"
KEYS: Mapping[Cloud, tuple[str, ...]] = {"aws": tuple(QUOTAS), "azure": (*AZURE_QUOTAS, FAMILIES_KEY)}
# Where a quota stands below `quotas` in the fleet file.
Place = tuple[str, ...]


def key(pool: Pool) -> str | None:
    """Which of AWS's quotas a pool's machines count in; None for one that is not known here."""
    places = of_type(aws_sizes.family(pool.instance_type or ""), "aws", spot=pool.spot)
    return places[0][0] if places else None


def of_type(family: str | None, cloud: Cloud, *, spot: bool) -> list[Place]:
    """Every quota that machines of a family's types count in."""
    if cloud == "aws":
        return [(f"{family}_spot" if spot else family,)] if family else []
    if spot:
        return [("spot",)]
    return [("cores",), *([(FAMILIES_KEY, family)] if family else [])]


def places(fleet: Fleet, pool: Pool) -> list[Place]:
    """Every quota that machines of a pool in a region count in."""
    cloud, known = fleet.regions[pool.region or ""].cloud, shapes.of_pool(fleet, pool)
    family = known.family if known else aws_sizes.family(pool.instance_type or "") if cloud == "aws" else None
    return of_type(family, cloud, spot=pool.spot)


def grown(fleet: Fleet, region: str) -> dict[Place, dict[str, int]]:
    """vCPUs by quotas and pools of one region, once all of them are as large as they may grow. Those of a type that is
    not known here are in none.
    """
    used: dict[Place, dict[str, int]] = defaultdict(dict)
    for name, pool in fleet.pools.items():
        if pool.region == region and (shape := shapes.of_pool(fleet, pool)):
            for place in places(fleet, pool):
                used[place][name] = pool.max * shape.cpus
    return used


def cloud_name(cloud: Cloud, place: Place) -> str:
    """What the cloud calls a quota: AWS by its code, Azure as `az vm list-usage` does."""
    return QUOTAS[place[0]].code if cloud == "aws" else AZURE_QUOTAS.get(place[-1], place[-1])


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    for name, region in fleet.regions.items():
        yield from _keys(fleet, name, region)
        yield from _of_region(fleet, name, region.cloud, granted(region.quotas))


def granted(quotas: Quotas) -> dict[Place, int]:
    """What the fleet file says that an account was granted, in vCPUs."""
    plain = quotas.model_dump(exclude={FAMILIES_KEY}, exclude_none=True)
    return {(key,): most for key, most in plain.items()} | {
        (FAMILIES_KEY, family): most for family, most in quotas.families.items()
    }


def _keys(fleet: Fleet, name: str, region: Region) -> Iterator[Wrong]:
    known = KEYS[region.cloud]
    for place in {place[0]: None for place in granted(region.quotas)}:
        if place not in known:
            what = f"region {name} has a quota {place}, and {region.cloud} has none of that name"
            yield ("regions", name, "quotas", place), what, f"Its quotas are {', '.join(known)}"
    book = fleet.shape_book.get(name)
    families = sorted(
        {*azure_sizes.FAMILIES, *(one.family for one in (book.types.values() if book else ()) if one.family)}
    )
    for family in region.quotas.families:
        if region.cloud == "azure" and family not in families:
            close = difflib.get_close_matches(family, families, 1)
            what = f"region {name} has a quota of the family {family}, of which no machine type is known here"
            remedy = f"Perhaps you mean {close[0]}" if close else f"Known: {', '.join(families)}"
            yield ("regions", name, "quotas", FAMILIES_KEY, family), what, remedy


def _of_region(fleet: Fleet, region: str, cloud: Cloud, granted: dict[Place, int]) -> Iterator[Wrong]:
    for name, pool in fleet.pools.items():
        counted = [place for place in places(fleet, pool) if place in granted] if pool.region == region else []
        if counted and pool.instance_type and shapes.of_pool(fleet, pool) is None:
            what = f"pool {name}: how many vCPUs a {pool.instance_type} has is not known here, and {region} has quotas"
            quota = counted[0][-1]
            remedy = f"{shapes.FETCH}, or take {quota} out of the quotas of {region}"
            yield ("pools", name, "instance_type"), what, remedy
    for place, used in grown(fleet, region).items():
        if place in granted and (total := sum(used.values())) > granted[place]:
            of, quota = ", ".join(f"{name} to {cpus}" for name, cpus in used.items()), place[-1]
            what = f"pools of {region} may grow to {total} vCPUs ({of}), and its quota {quota} is {granted[place]}"
            asked = f"{'AWS' if cloud == 'aws' else 'Azure'} for more of {cloud_name(cloud, place)}"
            remedy = f"Lower their max, or ask {asked} and write here what it granted"
            yield ("regions", region, "quotas", *place), what, remedy

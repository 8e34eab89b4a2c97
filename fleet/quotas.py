"""What AWS lets an account run in a region at a time: vCPUs by family of instance types, spot and on demand apart.

Amazon EC2 user guide: "Amazon EC2 On-Demand Instance quotas", "Spot Instance quotas". The fleet file says what an
account was granted; pools must fit into it when all of them are as large as they may grow.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from . import shapes
from .model import Fleet, Pool

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
# Letters that a type begins with → the family that AWS counts it in. Others have quotas of their own.
FAMILIES = {**dict.fromkeys("acdhimrtz", "standard"), "g": "g", "vt": "g", "p": "p"}


def key(pool: Pool) -> str | None:
    """Which of the quotas a pool's machines count in; None for one that is not known here."""
    letters = re.match(r"[a-z]+", pool.instance_type or "")
    family = FAMILIES.get(letters[0]) if letters else None
    return family and (f"{family}_spot" if pool.spot else family)


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    for name, region in fleet.regions.items():
        granted = {key: most for key, most in region.quotas.model_dump().items() if most is not None}
        if granted and region.cloud != "aws":
            what = f"region {name} has quotas, and those are counted for aws alone"
            yield ("regions", name, "quotas"), what, "Remove them"
            continue
        pools = {pool: entry for pool, entry in fleet.pools.items() if entry.region == name}
        yield from _of_region(name, pools, granted)


def _of_region(region: str, pools: dict[str, Pool], granted: dict[str, int]) -> Iterator[Wrong]:
    used: dict[str, dict[str, int]] = defaultdict(dict)
    for name, pool in pools.items():
        counted = key(pool)
        if counted not in granted or not pool.instance_type:
            continue
        size = shapes.shape(pool.instance_type)
        if size is None:
            what = f"pool {name}: how many vCPUs a {pool.instance_type} has is not known here, and {region} has quotas"
            remedy = f"Choose a type that fleet/shapes.py knows, or take {counted} out of the quotas of {region}"
            yield ("pools", name, "instance_type"), what, remedy
        else:
            used[counted][name] = pool.max * size.cpus
    for counted, grown in used.items():
        if (total := sum(grown.values())) > granted[counted]:
            of = ", ".join(f"{name} to {cpus}" for name, cpus in grown.items())
            what = f"pools of {region} may grow to {total} vCPUs ({of}), and its quota {counted} is {granted[counted]}"
            remedy = f"Lower their max, or ask AWS for more of {QUOTAS[counted].code} and write here what it granted"
            yield ("regions", region, "quotas", counted), what, remedy

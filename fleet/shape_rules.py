"""What pools say of their machines against what is known of the type."""

from collections.abc import Iterator

from . import shapes
from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry. The autoscaler decides by what a machine will have that is not there yet."""
    for name, pool in fleet.pools.items():
        region = fleet.regions.get(pool.region or "")
        if region is None or not pool.region or not pool.instance_type:
            continue
        if not shapes.FORMS[region.cloud][0].fullmatch(pool.instance_type):
            continue  # fleet.pools says so
        known = shapes.of_pool(fleet, pool)
        if known is None and pool.kind != "ssh":
            what = f"pool {name}: the size of a {pool.instance_type} is not known here, and the autoscaler needs it"
            yield ("pools", name, "instance_type"), what, shapes.FETCH
        elif known and pool.gpus and known.gpus != pool.gpus:
            what = f"pool {name} says gpus: {pool.gpus}, and a {pool.instance_type} has {known.gpus or 'none'}"
            remedy = f"Write gpus: {known.gpus}" if known.gpus else "Choose a type with GPUs"
            yield ("pools", name, "gpus"), what, f"{remedy}; if the type has changed, run `landbridge shapes refresh`"

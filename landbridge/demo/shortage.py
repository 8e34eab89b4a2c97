"""Regions run out of hardware: what the local clouds are told of theirs during a burst, so that others have to help."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fleet.model import Cloud, Fleet, Pool
from landbridge.local.own_api import ask
from local.environment import AWS_URL, AZURE_URL


def halved(shares: Mapping[str, int], gpus: Mapping[str, int]) -> dict[str, int]:
    """Machines that there is hardware for, by pool: half of what the last one with a share is to buy.

    `gpus` are those of a machine by pool, of pools in clouds in the order in which they fill up. Nothing where no pool
    comes after that one.
    """
    buying = [name for name in gpus if shares[name]]
    if not buying or buying[-1] == [*gpus][-1]:
        return {}
    return {buying[-1]: shares[buying[-1]] // gpus[buying[-1]] // 2}


def limits(fleet: Fleet, pools: Mapping[str, Pool], most: Mapping[str, int]) -> dict[Cloud, list[dict[str, Any]]]:
    """By cloud, as its own API takes them: of the machines of a pool's type its region has hardware for no more."""
    found: dict[Cloud, list[dict[str, Any]]] = {"aws": [], "azure": []}
    for name, count in most.items():
        pool = pools[name]
        assert pool.region is not None  # sites buy nothing
        if fleet.regions[pool.region].cloud == "aws":
            found["aws"].append({"region": pool.region, "instance_type": pool.instance_type, "capacity": count})
        else:
            found["azure"].append({"location": pool.region, "size": pool.instance_type, "most": count})
    return found


@contextmanager
def short(fleet: Fleet, pools: Mapping[str, Pool], most: Mapping[str, int]) -> Iterator[None]:
    """In the block there is hardware for so many machines alone, by pool, those that stand included."""
    lacking = limits(fleet, pools, most)
    faults, capacity = f"{AWS_URL}/landbridge-api/faults", f"{AZURE_URL}/landbridge-api/capacity"
    before = ask("GET", faults) if lacking["aws"] else []
    try:
        if lacking["aws"]:
            ask("POST", faults, [*before, *lacking["aws"]])
        if lacking["azure"]:
            ask("PUT", capacity, lacking["azure"])
        yield
    finally:
        if lacking["aws"]:
            ask("POST", faults, before)
        if lacking["azure"]:
            ask("PUT", capacity, [])

"""Pools (tag landbridge:pool): whose they are, that nothing but the autoscaler takes their machines, what they cost."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from fleet.model import Pool
from fleet.world import World

from . import azure_pools
from .boot import POOL
from .custody import OWNER
from .reading import UNKNOWN, Finding, Item, finding, of_types, tag, undecidable, unknown_in, values

GROUP = "aws:autoscaling/group:Group"
Judge = Callable[[Any, Pool], str | None]
ALONE = "Leave it to the autoscaler: it knows what a machine is doing"


def _only(allowed: list[Any]) -> Judge:
    return lambda value, _: None if value in allowed else f"is {json.dumps(value)}"


def _rebalance(value: Any, _: Pool) -> str | None:
    return None if "AZRebalance" in (value or []) else "lacks AZRebalance, which ends machines to even zones out"


def _most(value: Any, pool: Pool) -> str | None:
    return None if value is not None and value <= pool.max else f"is {value}, above the fleet file's {pool.max}"


def _price(value: Any, pool: Pool) -> str | None:
    cap = pool.max_price_per_hour
    if cap is None or not pool.spot:
        return None
    return f"is {value or 'open'}, above the fleet file's {cap}" if not value or float(value) > cap else None


# Type → path → what is wrong with a value there, for a pool of the fleet file; and what would be right.
POOLED: dict[str, dict[str, tuple[Judge, str]]] = {
    GROUP: {
        "protectFromScaleIn": (_only([True]), ALONE),
        "capacityRebalance": (_only([False, None]), ALONE),
        "suspendedProcesses": (_rebalance, "Suspend AZRebalance"),
        "instanceRefresh": (_only([None, []]), ALONE),
        "maxSize": (_most, "Raise the pool's max in the fleet file, or lower this"),
    },
    "aws:ec2/launchTemplate:LaunchTemplate": {
        "metadataOptions.httpPutResponseHopLimit": (_only([1]), "Set it to 1, which pods are beyond"),
        "instanceMarketOptions.spotOptions.maxPrice": (_price, "Take the pool's max_price_per_hour"),
    },
    azure_pools.SCALE_SET: azure_pools.OF_SCALE_SETS,
}
# Groups' pauses have no tags: every one before an end is judged.
HOOKS = {"aws:autoscaling/lifecycleHook:LifecycleHook": ("heartbeatTimeout", "defaultResult", "notificationMetadata")}
TERMINATING, LONGEST_SECONDS = "autoscaling:EC2_INSTANCE_TERMINATING", 600


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in of_types(found, POOLED):
        yield from _pooled(item, world)
    for item in of_types(found, HOOKS):
        if item.props.get("lifecycleTransition") in (TERMINATING, UNKNOWN):
            yield from _hook(item)
    yield from azure_pools.rivals(found)


def _pooled(item: Item, world: World) -> Iterator[Finding]:
    name, owner = tag(item, POOL), tag(item, OWNER)
    if name is None:
        return
    if name is UNKNOWN or owner is UNKNOWN:
        for path in POOLED[item.type]:
            yield undecidable(item, f"tags.{POOL}")._replace(path=path)
        return
    pool = world.fleet.pools.get(str(name))
    if pool is None:
        yield finding(
            item, "tags", f"tag {POOL} names {name}, which is no pool of the fleet", "Declare it, or remove it"
        )
        return
    if owner != pool.owner:
        yield finding(item, "tags", f"pool {name} is tagged as {owner}'s", f"It is {pool.owner}'s by the fleet file")
    for path, (judge, remedy) in POOLED[item.type].items():
        held = list(values(item.props, path)) or [None]
        if unknown_in(held):
            yield undecidable(item, path)
            continue
        for value in held if "." in path else [item.props.get(path)]:
            if wrong := judge(value, pool):
                yield finding(item, path, f"{path} of pool {name} {wrong}", remedy)


def _hook(item: Item) -> Iterator[Finding]:
    wait, result, told = (item.props.get(path) for path in HOOKS[item.type])
    wrong = {
        "heartbeatTimeout": None if isinstance(wait, int) and wait <= LONGEST_SECONDS else f"is {wait} seconds",
        "defaultResult": None if result == "CONTINUE" else f"is {result}",
        "notificationMetadata": None if "completer" in str(told) else f"is {told}: nobody ends the pause",
    }
    remedies = {
        "heartbeatTimeout": f"A machine is paid for until it goes: {LONGEST_SECONDS} seconds at most",
        "defaultResult": "CONTINUE, in words: left out it is ABANDON",
        "notificationMetadata": 'Name who ends it, as {"completer": "…"}',
    }
    for path, what in wrong.items():
        if UNKNOWN in (item.props.get(path), item.props.get("lifecycleTransition")):
            yield undecidable(item, path)
        elif what:
            yield finding(item, path, f"{path} of a pause before a machine's end {what}", remedies[path])

"""Scaling groups on AWS: what a pool's must be, so that nothing but the autoscaler takes its machines."""

from collections.abc import Iterator
from typing import Any

from fleet.model import Pool
from fleet.world import World

from ..pool_settings import ALONE, LONGEST_SECONDS, UNTOLD, Judge, only
from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable

GROUP, TEMPLATE = "aws:autoscaling/group:Group", "aws:ec2/launchTemplate:LaunchTemplate"


def _rebalance(value: Any, _: Pool) -> str | None:
    return None if "AZRebalance" in (value or []) else "lacks AZRebalance, which ends machines to even zones out"


def _most(value: Any, pool: Pool) -> str | None:
    return None if value is not None and value <= pool.max else f"is {value}, above the fleet file's {pool.max}"


def _price(value: Any, pool: Pool) -> str | None:
    cap = pool.max_price_per_hour
    if cap is None or not pool.spot:
        return None
    return f"is {value or 'open'}, above the fleet file's {cap}" if not value or float(value) > cap else None


# Path → what is wrong with a value there, for a pool of the fleet file; and what would be right.
OF_GROUPS: dict[str, tuple[Judge, str]] = {
    "protectFromScaleIn": (only([True]), ALONE),
    "capacityRebalance": (only([False, None]), ALONE),
    "suspendedProcesses": (_rebalance, "Suspend AZRebalance"),
    "instanceRefresh": (only([None, []]), ALONE),
    "maxInstanceLifetime": (only([None, 0]), f"{UNTOLD}: `landbridge pool roll` replaces machines"),
    "maxSize": (_most, "Raise the pool's max in the fleet file, or lower this"),
}
OF_TEMPLATES: dict[str, tuple[Judge, str]] = {
    "metadataOptions.httpPutResponseHopLimit": (only([1]), "Set it to 1, which pods are beyond"),
    "instanceMarketOptions.spotOptions.maxPrice": (_price, "Take the pool's max_price_per_hour"),
}
# Groups' pauses have no tags: every one before an end is judged.
HOOKS = {"aws:autoscaling/lifecycleHook:LifecycleHook": ("heartbeatTimeout", "defaultResult", "notificationMetadata")}
TERMINATING = "autoscaling:EC2_INSTANCE_TERMINATING"


def findings(found: list[Item], world: World) -> Iterator[Finding]:  # noqa: ARG001
    for item in of_types(found, HOOKS):
        if item.props.get("lifecycleTransition") in (TERMINATING, UNKNOWN):
            yield from _hook(item)


def _hook(item: Item) -> Iterator[Finding]:
    wait, result, metadata = (item.props.get(path) for path in HOOKS[item.type])
    wrong = {
        "heartbeatTimeout": None if isinstance(wait, int) and wait <= LONGEST_SECONDS else f"is {wait} seconds",
        "defaultResult": None if result == "CONTINUE" else f"is {result}",
        "notificationMetadata": None if "completer" in str(metadata) else f"is {metadata}: nobody ends the pause",
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

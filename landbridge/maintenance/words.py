"""Whom a plan concerns, in words: before it is made, and before it begins. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from .targets import Impact, Target


def plan(
    chosen: Target, hurt: Impact, opens: Mapping[str, datetime], start: datetime, long: timedelta, notice_minutes: int
) -> list[str]:
    """`opens` is by pool when its next window opens, where none is open at the start."""
    nodes = "1 node" if hurt.nodes == 1 else f"{hurt.nodes} nodes"
    return [
        f"{chosen}: {nodes}, from {start:%a %-d %b %H:%M} to {start + long:%H:%M} {start:%Z}.",
        f"Work there now: {work(hurt)}. It is told {notice_minutes} min before at the latest.",
        *([gpus(hurt)] if hurt.gpus else []),
        *(f"{pool}: its next window opens {at:%a %-d %b %H:%M} UTC, and it begins then." for pool, at in opens.items()),
    ]


def work(hurt: Impact) -> str:
    total = sum(hurt.work.values())
    named = ", ".join(f"{count} of {team or 'no team'}" for team, count in sorted(hurt.work.items()))
    return f"{total} {'pod' if total == 1 else 'pods'}{f' ({named})' if named else ''}"


def gpus(hurt: Impact) -> str:
    """Whether what runs there finds room elsewhere."""
    enough = hurt.used_gpus <= hurt.free_gpus + hurt.for_sale_gpus
    elsewhere = f"elsewhere {hurt.free_gpus} are free and {hurt.for_sale_gpus} may be bought"
    return f"GPUs there: {hurt.gpus}, {hurt.used_gpus} in use; {elsewhere}{'' if enough else ': not enough for all'}."

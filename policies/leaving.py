"""What is asked to leave a machine can: its grace ends before the machine does, and its budget lets some go."""

from collections.abc import Callable, Iterator
from typing import Any

from fleet.world import World

from . import workloads
from .pool_settings import LONGEST_SECONDS
from .reading import Finding, Item, finding, of_types, undecidable, unknown_in, values

BUDGET = "kubernetes:policy/v1:PodDisruptionBudget"
DAEMONS = "kubernetes:apps/v1:DaemonSet"
GRACE = "terminationGracePeriodSeconds"


def _grace(value: Any) -> str:
    more = value is not None and float(value) > LONGEST_SECONDS
    return f"a pod has {value} seconds to end, and its machine goes after {LONGEST_SECONDS}" if more else ""


def _none_away(value: Any) -> str:
    return f"none of its pods may ever be away (maxUnavailable: {value})" if value in (0, "0", "0%") else ""


def _all_there(value: Any) -> str:
    return f"all of its pods must be there at all times (minAvailable: {value})" if value == "100%" else ""


SOONER = "Write a checkpoint sooner: programs are told an hour before (docs/guide/maintenance.md)"
SOME = "Let one go at a time, or leave the budget out: a drain stops at it, and only a deadline ends its pods"
# Type → path → what is wrong with a value there, and what would be right. A daemon set's pods leave with the machine.
LEAVING: dict[str, dict[str, tuple[Callable[[Any], str], str]]] = {
    **{
        kind: {f"{path}.{GRACE}": (_grace, SOONER) for path in paths}
        for kind, paths in workloads.WORKLOADS.items()
        if kind != DAEMONS
    },
    BUDGET: {"spec.maxUnavailable": (_none_away, SOME), "spec.minAvailable": (_all_there, SOME)},
}


def findings(found: list[Item], world: World) -> Iterator[Finding]:  # noqa: ARG001
    for item in of_types(found, LEAVING):
        for path, (wrong, remedy) in LEAVING[item.type].items():
            there = [*values(item.props, path)]
            if unknown_in(there):
                yield undecidable(item, path)
                continue
            for what in filter(None, map(wrong, there)):
                yield finding(item, path, f"it can't leave a machine: {what}", remedy)

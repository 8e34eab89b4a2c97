"""Which stacks of a fleet come before which others, and runs that would leave one without what it stands on."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from fleet.model import Fleet
from landbridge.engine.stack_report import GIVEN_UP, Phase
from landbridge.errors import LandbridgeError
from stacks.catalogue import ADDONS, StackSpec


def of_destroy(stacks: Mapping[str, StackSpec]) -> dict[str, list[str]]:
    """Stack → those that must be gone before it is."""
    before = {name: [other for other, spec in stacks.items() if name in spec.depends_on] for name in stacks}
    for name, spec in stacks.items():
        # What add-ons run on: their pods end only where a kubelet is, and hears that they are to.
        if spec.kind in ("pool", "laptops"):
            before[name] += [f"{other}{ADDONS}" for other in spec.depends_on]
        if spec.kind == "links":
            before[name] += [other for other, above in stacks.items() if above.kind == "addons"]
    return before


def with_machines(fleet: Fleet, cluster: str, phases: Mapping[str, Phase], stands: Callable[[str], bool]) -> list[str]:
    """The cluster's pools whose machines are worth waiting for: not those that failed in this run or are not up."""
    own = [pool for pool, spec in fleet.pools.items() if spec.cluster == cluster]
    return [pool for pool in own if phases.get(pool) not in GIVEN_UP and stands(pool)]


def refuse_below(
    chosen: Collection[str], every: Sequence[StackSpec], stands: Callable[[str], bool], options: str
) -> None:
    """Raises LandbridgeError if stacks that are not in this run stand on some that are, or on each other and those.

    Here and below, `options` are those of a place: they end the words of a command as it would be typed here.
    """
    going = set(chosen)
    while more := [
        spec.name
        for spec in every
        if spec.name not in going and going.intersection(spec.depends_on) and stands(spec.name)
    ]:
        going.update(more)
    above = {spec.name: spec for spec in every if spec.name in going and spec.name not in chosen}
    if above:
        below = [name for name in chosen if any(name in spec.depends_on for spec in above.values())]
        stand = "stands" if len(above) == 1 else "stand"
        it = "it" if len(below) == 1 else "them"
        raise LandbridgeError(
            f"{', '.join(above)} {stand} on {', '.join(below)} and would lose {it}. All go together: "
            f"`landbridge destroy{options} {' '.join([*above, *chosen])}`"
        )


def refuse_read(
    name: str, chosen: Collection[str], every: Iterable[str], reads: Callable[[str], Collection[str]], options: str
) -> None:
    """Raises LandbridgeError if a stack that is not in this run was built on this one, which no file names any more."""
    if above := [other for other in every if other not in chosen and name in reads(other)]:
        hold, it = ("still holds", "it") if len(above) == 1 else ("still hold", "them")
        raise LandbridgeError(
            f"{', '.join(above)} {hold} what leads to {name}. Bring {it} to what the fleet file says, then destroy: "
            f"`landbridge up{options} {' '.join(above)}`"
        )


def refuse_elsewhere(stacks: Iterable[StackSpec], published: Callable[[str], Mapping[str, Any]], options: str) -> None:
    """Raises LandbridgeError for machines that would change their cluster or region: they stay what they were born as.

    `published` are a stack's outputs. Hosts of sites move by themselves, see site/transfer.py.
    """
    found = {}
    for spec in stacks:
        outputs = published(spec.name) if spec.kind in ("pool", "laptops") else {}
        if not outputs or outputs.get("site"):
            continue
        wanted = {"region": spec.region, "cluster": spec.depends_on[-1]}
        differs = [
            f"{what} {outputs.get(what)} and not {name}" for what, name in wanted.items() if outputs.get(what) != name
        ]
        if differs:
            found[spec.name] = f"{spec.name} stands in {' and '.join(differs)}"
    if found:
        away = f"`landbridge destroy{options} {' '.join(found)} --ignore-protect`"
        raise LandbridgeError(
            f"Nothing was changed: {'; '.join(found.values())}. Machines stay what they were born as. If those may go, "
            f"let them go first: {away}, then `landbridge up{options}`"
        )


def refuse_alone(name: str, chosen: Mapping[str, StackSpec], stands: Callable[[str], bool], options: str) -> None:
    """Raises LandbridgeError if this stack reads from one that is neither up nor in this run."""
    others = [other for other in chosen[name].depends_on if other not in chosen]
    if missing := [other for other in others if not stands(other)]:
        are, all_ = ("is", "both") if len(missing) == 1 else ("are", "all")
        raise LandbridgeError(
            f"{name} stands on {' and '.join(missing)}, which {are} not up. Bring {all_} up: "
            f"`landbridge up{options} {' '.join([*missing, name])}`"
        )

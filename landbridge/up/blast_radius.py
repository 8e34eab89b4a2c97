"""The blast radius: how many machines, volumes and tunnels a run creates, replaces and destroys."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.model import Limits
from landbridge.engine.resource_types import KINDS, PRECIOUS, Kind, Precious
from landbridge.engine.stack_report import Step

# Verbs of steps → the limit that counts them.
EFFECTS = {"created": "create", "replaced": "replace", "deleted": "destroy"}


@dataclass
class Blast:
    """`counts` by effect (create, replace, destroy) and kind; `losses` name what is replaced or destroyed.

    `retained` names what stays in the cloud although its stack loses it.
    """

    counts: Counter[tuple[str, Kind]] = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)
    protected: list[str] = field(default_factory=list)
    retained: list[str] = field(default_factory=list)

    def total(self, effect: str) -> int:
        return sum(self.counts[effect, kind] for kind in KINDS)

    def above(self, limits: Limits) -> list[str]:
        """The effects that go beyond the limits, in words."""
        allowed = {"create": limits.create, "replace": limits.replace, "destroy": limits.destroy}
        return [
            f"{effect}s {self.total(effect)}, allowed are {most}"
            for effect, most in allowed.items()
            if self.total(effect) > most
        ]

    def as_json(self) -> dict[str, dict[str, int]]:
        return {e: {kind: self.counts[e, kind] for kind in KINDS} for e in EFFECTS.values()}


def blast(stacks: Mapping[str, Iterable[Step]], *, keep: bool = True) -> Blast:
    """Of the previewed steps of every stack in the run. Unless `keep`, the run deletes what would stay, too."""
    found = Blast()
    for stack, steps in stacks.items():
        for step in steps:
            effect = EFFECTS.get(step.verb)
            if effect is None:
                continue
            precious = PRECIOUS.get(step.type)
            if precious and step.retained and keep and effect == "destroy":
                found.retained.append(f"{precious.kind} {step.name} of {stack}")
            elif precious:
                found.counts[effect, precious.kind] += number(precious, step.properties)
                if effect != "create":
                    found.losses.append(f"{effect}s {precious.kind} {step.name} of {stack}")
            if effect != "create" and step.protected:
                found.protected.append(f"{step.name} of {stack}")
    return found


def number(precious: Precious, properties: Mapping[str, Any]) -> int:
    """How many machines stand behind one resource: a scaling group of none yet counts as one."""
    value: Any = properties
    for key in (precious.counted_by or "").split(".") if precious.counted_by else ():
        value = value.get(key) if isinstance(value, Mapping) else None
    return max(1, int(value)) if isinstance(value, int | float) else 1

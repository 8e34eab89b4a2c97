"""What stands on a node and its pods of what is planned: of several plans together, by their beginnings. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fleet.maintenance import (
    ANNOTATION,
    AWAY,
    CONDITION,
    CORDONED,
    NONE_LEFT,
    SOURCES,
    TAINT,
    NodeState,
    Plan,
    left,
    stamp,
)

from .nodes import Node
from .steps import times

CLOSED = ("closed", *AWAY)
NO_REASON, NO_WORDS = "NothingPlanned", "nobody has announced work on it"
Planned = tuple[Plan, NodeState]


class Marks(NamedTuple):
    """`taint` is a value, None for no taint."""

    annotation: str
    taint: str | None
    cordoned: bool
    reason: str
    words: str


def wanted(planned: Sequence[Planned], now: float) -> Marks:
    """Of all plans for a node that are not done with it."""
    mine = sorted(planned, key=lambda one: times(one[0], one[1].told).begins)
    if not mine:
        return Marks("", None, cordoned=False, reason=NO_REASON, words=NO_WORDS)
    plan, state = mine[0]
    closed = [times(one, known.told).begins - now for one, known in mine if known.phase in CLOSED]
    away = any(known.phase in AWAY for _, known in mine)
    taint = (NONE_LEFT if away else left(min(closed))) if closed else None
    # Whether the machine is empty is of interest to its cloud alone, which waits for that.
    entries = [{**notice(one, known), "event": one.event, "phase": known.phase} for one, known in mine]
    return Marks(json.dumps(entries, sort_keys=True), taint, away, reason(plan.source), words(plan, state))


def notice(plan: Plan, state: NodeState) -> dict[str, Any]:
    """What a node has of a plan, and a program in a pod may read."""
    begins = times(plan, state.told).begins
    return {
        "maintenance": plan.name,
        "why": plan.why,
        "by": SOURCES[plan.source].who,
        "source": plan.source,
        "start": stamp(begins),
        "start_seconds": int(begins),
        "end": stamp(max(plan.end, begins)),
    }


def of_pod(planned: Sequence[Planned], now: float) -> str:
    """Of the next one: the file that its program may read, written anew as the steps of the taint go."""
    mine = min(planned, key=lambda one: times(one[0], one[1].told).begins, default=None)
    if mine is None:
        return ""
    found = notice(*mine)
    remaining = left(found["start_seconds"] - now)
    return json.dumps({**found, "left": remaining}, sort_keys=True)


def reason(source: str) -> str:
    """As reasons of conditions are written."""
    return "".join(part.capitalize() for part in source.split("-"))


def words(plan: Plan, state: NodeState) -> str:
    begins = stamp(times(plan, state.told).begins)
    return f"{plan.name}, by {SOURCES[plan.source].who}: {plan.why}; from {begins} to {stamp(plan.end)}"


def patch(node: Node, marks: Marks) -> dict[str, Any] | None:
    """A merge patch of the node; None where nothing is to be written."""
    annotations: dict[str, str | None] = {}
    if node.annotation != marks.annotation:
        annotations[ANNOTATION] = marks.annotation or None
    spec: dict[str, Any] = {}
    # Who was cordoned by people stays so.
    if marks.cordoned and not node.unschedulable:
        spec["unschedulable"], annotations[CORDONED] = True, "true"
    elif not marks.cordoned and node.cordoned:
        spec["unschedulable"], annotations[CORDONED] = None, None
    if node.taint != marks.taint:
        others: list[Mapping[str, Any]] = [one for one in node.taints if one["key"] != TAINT]
        ours = {"key": TAINT, "value": marks.taint, "effect": "NoSchedule"}
        spec["taints"] = [*others, *([ours] if marks.taint is not None else [])] or None
    if not annotations and not spec:
        return None
    # A list of taints is written whole: somebody else's must not get lost.
    about = {"resourceVersion": node.version, **({"annotations": annotations} if annotations else {})}
    return {"metadata": about, **({"spec": spec} if spec else {})}


def condition(node: Node, marks: Marks, now: float) -> dict[str, Any] | None:
    """Ours of the node's status; None where it stands there. Who never had one gets none that says nothing."""
    status = "True" if marks.annotation else "False"
    before = node.condition
    if (before.get("status"), before.get("message")) == (status, marks.words) or (not before and status == "False"):
        return None
    since = before.get("lastTransitionTime") if before.get("status") == status else stamp(now)
    return {
        "type": CONDITION,
        "status": status,
        "reason": marks.reason,
        "message": marks.words,
        "lastHeartbeatTime": stamp(now),
        "lastTransitionTime": since,
    }

"""Why a pod waits, scaling group by scaling group: pure. What to do about each is landbridge/autoscaler/causes.py's."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from . import limits, refusals
from .autoscaler_status import GroupStatus
from .fits import misfit, unmatched
from .settings import Group as GroupSettings
from .settings import Settings

# components/pools/labels.py's.
PLACE = "landbridge.dev/place"
Own = Literal[
    # Of the pod, whatever the groups are.
    "gated",
    "scheduling",
    "preempting",
    "priority",
    "site",
    # Of a group: it would not help.
    "selector",
    "taint",
    "too-large",
    # It would, and is not asked, or was.
    "no-answer",
    "refused-capacity",
    "refused-quota",
    "refused-spot",
    "refused-other",
    "backoff",
    "coming",
    "undecided",
]
CODES: tuple[str, ...] = (*get_args(Own), *get_args(limits.Code))
REFUSALS: tuple[str, ...] = get_args(refusals.Code)


class Cause(NamedTuple):
    """`group` is empty where the cause is the pod's own; `until` is a moment of the epoch, 0 for none."""

    code: str
    text: str
    group: str = ""
    until: float = 0.0


class Around(NamedTuple):
    """What the autoscaler and its cloud side know beside the pod. `until`: group → the end of its backoff. `nodes` are
    the labels of those that are there. Pods of a lower priority than `buys_from` buy nothing.
    """

    settings: Settings
    statuses: Mapping[str, GroupStatus]
    until: Mapping[str, float]
    nodes: Sequence[Mapping[str, str]] = ()
    buys_from: int = -10


def causes(pod: Mapping[str, Any], around: Around) -> list[Cause]:
    """Of a pod that has no node. A group may have several; those that would not help come last."""
    own = list(_own(pod, around))
    if any(one.code in ("gated", "preempting", "scheduling", "priority") for one in own):
        return own
    helps: list[Cause] = []
    not_: list[Cause] = []
    for group in around.settings.groups:
        if wrong := misfit(pod, group.template):
            not_.append(Cause(wrong.code, wrong.text, group.name))
        else:
            helps += _of_group(group, around)
    # Where machines are on their way the autoscaler waits for those.
    if any(one.code == "coming" for one in helps):
        helps = [one for one in helps if one.code != "undecided"]
    if not helps:
        own += _site(pod, around)
    return [*own, *helps, *not_]


def _own(pod: Mapping[str, Any], around: Around) -> Iterator[Cause]:
    spec, status = pod["spec"], pod.get("status") or {}
    if gates := [one["name"] for one in spec.get("schedulingGates") or []]:
        yield Cause("gated", f"it is held back by {', '.join(gates)}: nobody looks for a node for it yet")
        return
    if node := status.get("nominatedNodeName"):
        yield Cause("preempting", f"it gets the room of pods that leave {node}")
        return
    if not scheduler_says(pod):
        yield Cause("scheduling", "the scheduler has not found yet that no node has room")
        return
    if (spec.get("priority") or 0) < around.buys_from:
        text = f"its priority is {spec['priority']}, and below {around.buys_from} a pod buys no machine"
        yield Cause("priority", text)


def scheduler_says(pod: Mapping[str, Any]) -> str:
    """The scheduler's own sentence on why no node takes the pod; empty before it has tried."""
    for one in (pod.get("status") or {}).get("conditions") or []:
        if one["type"] == "PodScheduled" and one["status"] == "False" and one.get("reason") == "Unschedulable":
            return str(one.get("message") or "Unschedulable")
    return ""


def _site(pod: Mapping[str, Any], around: Around) -> Iterator[Cause]:
    """No group would help, and there are nodes that it may run on."""
    places = [
        labels.get(PLACE, "") for labels in around.nodes if PLACE in labels and not unmatched(pod["spec"], labels)
    ]
    if sites := sorted({place for place in places if place not in around.settings.region_clouds}):
        count = sum(place in sites for place in places)
        text = f"it may run on {count} nodes of {', '.join(sites)} alone, none has room, and nobody buys more of those"
        yield Cause("site", text)


def _of_group(group: GroupSettings, around: Around) -> Iterator[Cause]:
    """Of a group that would help."""
    name = group.name
    status = around.statuses.get(name)
    if status is None:
        yield Cause("no-answer", f"{group.region} has not told of it since the autoscaler started", name)
        return
    if status.backs_off:
        refused, why = status.code in REFUSALS, status.sentence or status.code or "nobody said why"
        if refused:
            yield Cause(f"refused-{status.code}", why, name)
        text = "it failed, and is asked again later" + ("" if refused else f": {why}")
        yield Cause("backoff", text, name, around.until.get(name, 0.0))
    if status.coming:
        text = f"{status.ready} of {status.target} machines are ready, the others are on their way"
        yield Cause("coming", text, name)
    room = limits.room(around.settings, counted(around.settings, around.statuses), name)
    if room.machines == 0:
        yield Cause(room.code, room.why, name)
    elif not status.backs_off and not status.coming:
        yield Cause("undecided", f"it may have {room.machines} machines more, and was not asked yet", name)


def counted(settings: Settings, statuses: Mapping[str, GroupStatus]) -> dict[str, int]:
    """What limits count: the sizes that the autoscaler was told."""
    return {one.name: statuses[one.name].target for one in settings.groups if one.name in statuses}

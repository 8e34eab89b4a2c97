"""Runs in a cluster's queues, read from Kueue's workloads; and why those wait that do, in the fleet file's words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from components.addons.queues import TEAM_GPUS
from components.pools.labels import GPU_RESOURCE
from fleet.team_storage import namespace

State = Literal["runs", "starts", "waits", "stopped"]
DEFAULT = "normal"


class Run(NamedTuple):
    """`place` is empty until it has one, `why` for what runs.

    `since` is when it came into its state, `ahead` how many of its team wait before it.
    """

    name: str
    team: str
    priority: str
    gpus: int
    state: State
    place: str
    since: datetime
    ahead: int
    why: str


class Share(NamedTuple):
    """GPUs of a team. `may_borrow` is None for all that others leave."""

    team: str
    owns: int
    may_borrow: int | None
    holds: int
    waiting: int

    @property
    def most(self) -> int | None:
        return None if self.may_borrow is None else self.owns + self.may_borrow


class Place(NamedTuple):
    """GPUs of a place: those that can be there, and those that runs hold."""

    place: str
    gpus: int
    held: int

    @property
    def free(self) -> int:
        return max(0, self.gpus - self.held)


class Room(NamedTuple):
    """What teams and places have left."""

    shares: Sequence[Share]
    places: Sequence[Place]

    def share(self, team: str) -> Share:
        """Raises KeyError."""
        return {one.team: one for one in self.shares}[team]


class Queues(NamedTuple):
    """`runs` in the order in which they would be looked at: those that hold GPUs first."""

    shares: Sequence[Share]
    places: Sequence[Place]
    runs: Sequence[Run]

    @property
    def room(self) -> Room:
        return Room(self.shares, self.places)

    def as_json(self) -> dict[str, Any]:
        return {
            "teams": [share._asdict() for share in self.shares],
            "places": [{**place._asdict(), "free": place.free} for place in self.places],
            "runs": [run._asdict() for run in self.runs],
        }


def read(workloads: Sequence[Mapping[str, Any]], room: Room) -> Queues:
    """`workloads` are Kueue's, of those teams that one may look at. Those that have ended are left out."""
    spaces = {namespace(share.team): share for share in room.shares}
    live = [one for one in workloads if one["metadata"]["namespace"] in spaces and not is_over(one)]
    runs, ahead = list[Run](), Counter[str]()
    for one in sorted(live, key=_order):
        share = spaces[one["metadata"]["namespace"]]
        run = _run(one, share, room.places, ahead[share.team])
        ahead[share.team] += run.state == "waits"
        runs.append(run)
    return Queues(room.shares, room.places, runs)


def _order(workload: Mapping[str, Any]) -> tuple[Any, ...]:
    """What holds GPUs, then by priority, then by age, as Kueue looks at them; names for those of one second."""
    meta = workload["metadata"]
    return (not place_of(workload), -workload["spec"].get("priority", 0), _entered(workload), meta["name"])


def _run(workload: Mapping[str, Any], share: Share, places: Sequence[Place], ahead: int) -> Run:
    spec, place = workload["spec"], place_of(workload)
    owner = workload["metadata"]["ownerReferences"][0]["name"]
    priority = spec.get("priorityClassRef", {}).get("name") or DEFAULT
    state: State = "waits"
    if not spec.get("active", True):
        state = "stopped"
    elif place:
        state = "runs" if _is(workload, "Admitted") else "starts"
    since = _since(workload, state)
    why = _why(workload, state, share, places)
    gpus = gpus_of(workload)
    return Run(owner, share.team, priority, gpus, state, place, since, ahead if state == "waits" else 0, why)


def _why(workload: Mapping[str, Any], state: State, share: Share, places: Sequence[Place]) -> str:
    if state == "runs":
        return ""
    if state == "stopped":
        return _condition(workload, "Evicted").get("message") or "it was taken out of its queue"
    if state == "starts":
        checks = workload.get("status", {}).get("admissionChecks") or []
        told = next((check.get("message") for check in checks if check.get("message")), "")
        return f"its machines are asked for in {place_of(workload)}" + (f": {told}" if told else "")
    return never(gpus_of(workload), share, places) or _short(workload, share, places)


def never(gpus: int, share: Share, places: Sequence[Place]) -> str:
    """Why it can't begin, however long it waits; empty if it can."""
    if share.most is not None and gpus > share.most:
        return f"never: it asks for {gpus} GPUs, and {share.team} may hold {share.most}: {_owns(share)}"
    largest = max(places, key=lambda one: one.gpus, default=None)
    if largest is None or gpus > largest.gpus:
        most = f"{largest.place}, the largest place, has {largest.gpus}" if largest else "no place has any"
        return f"never: it asks for {gpus} GPUs, and {most}"
    return ""


def _short(workload: Mapping[str, Any], share: Share, places: Sequence[Place]) -> str:
    """In words of the fleet file where the numbers tell, else in Kueue's own."""
    gpus = gpus_of(workload)
    if share.most is not None and share.holds + gpus > share.most:
        return f"{share.team} holds {share.holds} GPUs of {share.most}: {_owns(share)}"
    if all(one.free < gpus for one in places):
        free = ", ".join(f"{one.free} of {one.gpus} in {one.place}" for one in places)
        return f"no place has {gpus} GPUs free: {free}"
    message = str(_condition(workload, "QuotaReserved").get("message") or "")
    if TEAM_GPUS in message and GPU_RESOURCE not in message:
        return f"others hold what {share.team} could borrow: {_owns(share)}, and holds {share.holds}"
    return message or "nobody has looked at it yet"


def _owns(share: Share) -> str:
    more = {None: "and may borrow what is free", 0: "and may borrow none"}
    return f"it owns {share.owns} {more.get(share.may_borrow, f'and may borrow {share.may_borrow}')}"


def _condition(workload: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    found = workload.get("status", {}).get("conditions") or []
    return next((one for one in found if one["type"] == kind), {})


def _is(workload: Mapping[str, Any], kind: str) -> bool:
    return bool(_condition(workload, kind).get("status") == "True")


def place_of(workload: Mapping[str, Any]) -> str:
    """One place a run; empty where it has no quota yet."""
    admission = workload.get("status", {}).get("admission") or {}
    flavors = [one.get("flavors") or {} for one in admission.get("podSetAssignments") or []]
    return next((str(one[GPU_RESOURCE]) for one in flavors if GPU_RESOURCE in one), "")


def is_over(workload: Mapping[str, Any]) -> bool:
    return _is(workload, "Finished")


def holds(workload: Mapping[str, Any]) -> bool:
    """GPUs of its queue."""
    return _is(workload, "QuotaReserved") and not is_over(workload)


def gpus_of(workload: Mapping[str, Any]) -> int:
    return sum(one["count"] * _of_pod(one["template"]["spec"]) for one in workload["spec"]["podSets"])


def _of_pod(spec: Mapping[str, Any]) -> int:
    resources = [one.get("resources") or {} for one in spec["containers"]]
    return sum(int((one.get("limits") or one.get("requests") or {}).get(GPU_RESOURCE, 0)) for one in resources)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _entered(workload: Mapping[str, Any]) -> datetime:
    return _moment(workload["metadata"]["creationTimestamp"])


def _since(workload: Mapping[str, Any], state: State) -> datetime:
    kind = {"runs": "Admitted", "starts": "QuotaReserved", "stopped": "Evicted"}.get(state, "")
    if state == "waits" and _is(workload, "Evicted"):
        kind = "Evicted"  # it began before, and went back
    told = _condition(workload, kind).get("lastTransitionTime")
    return _moment(told) if told else _entered(workload)

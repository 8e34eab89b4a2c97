"""Why a pod waits, or waited: from the day of notes that the autoscaler's pod keeps, and from the pod itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError, UsageError

from . import notes as day_notes
from .causes import meaning
from .notes import Json, Notes

# Causes by which a group would not help: what it did meanwhile is no part of the pod's story.
MISFITS = ("selector", "taint", "too-large")
# What was asked for it just before it was seen, and just after.
AROUND_SECONDS = 60
SILENT_SECONDS = 300


@dataclass(frozen=True)
class Wait:
    """A time in which the pod waited for the same reasons. `message` has the scheduler's words."""

    since: datetime
    until: datetime
    message: str
    causes: Sequence[Mapping[str, Any]]

    def as_json(self) -> dict[str, Any]:
        return {"since": self.since, "until": self.until, "said": self.message, "causes": [*self.causes]}


@dataclass(frozen=True)
class Explanation:
    """`state` is the pod's phase, or `gone`. What it asks for is as the notes have it; empty where it never waited."""

    pod: str
    namespace: str
    state: str
    node: str
    owner: str
    requests: Mapping[str, str]
    selector: Mapping[str, str]
    waits: Sequence[Wait]
    decisions: Sequence[Json]

    def as_json(self) -> dict[str, Any]:
        names = ("pod", "namespace", "state", "node", "owner", "requests", "selector")
        return {
            **{name: getattr(self, name) for name in names},
            "waits": [one.as_json() for one in self.waits],
            "decisions": [*self.decisions],
        }


def explained(kube: Kube, notes: Notes, pod: str, namespace: str | None, now: datetime) -> Explanation:
    """Raises KubeError, UsageError for a pod of several namespaces, LandbridgeError for one of which nobody knows."""
    found = [*notes.of(pod, namespace)]
    where = "--all-namespaces" if namespace is None else f"--namespace={namespace}"
    there = kube.get("pods", where, f"--field-selector=metadata.name={pod}")["items"]
    spaces = sorted({one["namespace"] for one in found} | {one["metadata"]["namespace"] for one in there})
    if len(spaces) > 1:
        raise UsageError(f"Pods called {pod} are in {', '.join(spaces)}. Name one with --namespace NAME.")
    if not spaces:
        raise LandbridgeError(_unknown(pod, notes, now))
    live = there[0] if there else None
    last = found[-1] if found else {}
    waits = [_wait(one) for one in found]
    return Explanation(
        pod,
        spaces[0],
        str((live or {}).get("status", {}).get("phase", "Pending" if live else "gone")),
        str((live or {}).get("spec", {}).get("nodeName", "")),
        last.get("owner", ""),
        last.get("requests", {}),
        last.get("selector", {}),
        waits,
        [*_decided(notes.decisions, waits)],
    )


def _unknown(pod: str, notes: Notes, now: datetime) -> str:
    if notes.last is None:
        return f"There is no pod {pod}, and the autoscaler's pod has kept no notes yet. {stale(notes, now)}"
    hours = (now - (notes.since or now)).total_seconds() / 3600
    return (
        f"There is no pod {pod}, and none of that name waited for a node in the last {hours:.0f} hours. "
        "Pods that found a node within ten seconds are not noted."
    )


def stale(notes: Notes, now: datetime) -> str:
    """What to say of notes to which nobody adds; empty where somebody does."""
    look = "`landbridge autoscaler status` tells how the autoscaler is."
    if notes.last is None:
        return look
    silent = (now - notes.last).total_seconds()
    return f"The newest note is {silent / 60:.0f} minutes old. {look}" if silent > SILENT_SECONDS else ""


def _wait(record: Json) -> Wait:
    return Wait(
        day_notes.at(record["from"]),
        day_notes.at(record["to"]),
        str(record["said"]),
        [_cause(one) for one in record["causes"]],
    )


def _cause(record: Json) -> Mapping[str, Any]:
    """All of a cause's fields, so that scripts find each; `until` is None where nobody knows it."""
    means = meaning(str(record["code"]))
    return {
        "code": record["code"],
        "group": record.get("group", ""),
        "text": record["text"],
        "until": day_notes.at(record["until"]) if record.get("until") else None,
        "means": means.short,
        "help": means.help,
    }


def _decided(decisions: Sequence[Json], waits: Sequence[Wait]) -> Iterator[Json]:
    """What was decided about groups that would help the pod, while it waited."""
    for one in decisions:
        at = day_notes.moment(str(one["at"])).timestamp()
        for wait in waits:
            groups = {cause["group"] for cause in wait.causes if cause["code"] not in MISFITS}
            near = wait.since.timestamp() - AROUND_SECONDS <= at <= wait.until.timestamp() + AROUND_SECONDS
            if near and one.get("group") in groups:
                yield one
                break

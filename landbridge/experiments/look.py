"""Runs of a team as the cluster's API has them now."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from landbridge.access.person import Person
from landbridge.errors import UsageError
from landbridge.queue.look import WORKLOADS, look_at_room

from . import valkey
from .manifest import CODE, PART, RANK, RECORD, RUN
from .states import JOB_SET, JOB_SETS, RunState, states
from .templates import Template


def runs(person: Person) -> list[RunState]:
    """Of their team, or of all teams for an operator who works for none. Raises UsageError and KubeError."""
    room = look_at_room(person)
    where = f"--namespace={person.namespace}" if person.team else "--all-namespaces"
    found = person.kube.get(f"{JOB_SETS},{WORKLOADS}", where)["items"]
    job_sets = [one for one in found if one["kind"] == JOB_SET]
    workloads = [one for one in found if one["kind"] != JOB_SET]
    return states(job_sets, workloads, room, person.spec, datetime.now(UTC))


def run(person: Person, name: str) -> RunState | None:
    """None where there is none of that name, or none any more."""
    return next((one for one in runs(person) if one.name == name), None)


def known(person: Person, name: str) -> RunState:
    """Raises UsageError for a run that is not there."""
    found = runs(person)
    if (one := next((one for one in found if one.name == name), None)) is None:
        names = ", ".join(other.name for other in found[:5])
        raise UsageError(
            f"Team {person.team} has no run {name} in {person.cluster}. "
            + (f"Its newest: {names}." if names else "It has none at all.")
        )
    return one


def record(person: Person, name: str) -> dict[str, Any]:
    """What a run that is there was launched with."""
    found = person.kube.get(JOB_SETS, name, f"--namespace={person.namespace}")
    return dict(json.loads(found["metadata"]["annotations"][RECORD]))


def pods(person: Person, name: str) -> list[dict[str, Any]]:
    """Of one run, the newest first."""
    found = person.kube.get("pods", f"--namespace={person.namespace}", f"--selector={RUN}={name}")["items"]
    return sorted(found, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), reverse=True)


def pod(found: Sequence[Mapping[str, Any]], part: str, rank: int) -> Mapping[str, Any] | None:
    """The newest of one host."""
    return next(
        (
            one
            for one in found
            if one["metadata"]["labels"].get(PART) == part
            and one["metadata"].get("annotations", {}).get(RANK) == str(rank)
        ),
        None,
    )


def part_of(person: Person, name: str, part: str | None) -> str:
    """The part that is meant of a run that is there. Raises UsageError."""
    return chosen_part(record(person, name), name, part)


def chosen_part(told: Mapping[str, Any], name: str, part: str | None) -> str:
    """By a run's record: what it ends with, where none is named. Raises UsageError."""
    template = Template.model_validate(told["template"])
    known = [*template.parts, *([valkey.NAME] if told["run"].get("redis") else [])]
    if part is not None and part not in known:
        raise UsageError(f"--part {part}: {name} has {', '.join(known)}.")
    return part or template.shown


def main_status(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of the run's own container: empty while it is not known."""
    found = one.get("status", {}).get("containerStatuses") or []
    return next((status.get("state") or {} for status in found), {})


def without_code(one: Mapping[str, Any]) -> str:
    """Why a host did not get its code; empty where it did, or may yet."""
    for status in one.get("status", {}).get("initContainerStatuses") or []:
        ended = (status.get("state") or {}).get("terminated") or {}
        if status["name"] == CODE and ended.get("exitCode"):
            return str(ended.get("message") or "it got no code, and does not say why").strip()
    return ""


def exit_code(found: Sequence[Mapping[str, Any]]) -> int | None:
    """That of the host which failed first; None where none has."""
    ended = [state["terminated"] for one in found if "terminated" in (state := main_status(one))]
    failed = [one for one in ended if one["exitCode"]]
    first = min(failed, key=lambda one: str(one.get("finishedAt")), default=None)
    return int(first["exitCode"]) if first else None

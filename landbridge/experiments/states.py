"""Runs as people see them: what has become of each, where, since when, and what it has cost. Pure.

From JobSets, which stay for a week after their end, and from Kueue's workloads, which go with them.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from components.addons.spec import AddOnsSpec
from landbridge.queue import runs as queued
from landbridge.queue.runs import Room

from .hosts import Hosts
from .manifest import PERSON, RECORD, RUN
from .offer import pool_at, usd_an_hour

Phase = Literal["waits", "starts", "runs", "stopped", "done", "failed"]
ENDED: Mapping[str, Phase] = {"Completed": "done", "Failed": "failed"}
JOB_SET, JOB_SETS = "JobSet", "jobsets.jobset.x-k8s.io"


class RunState(NamedTuple):
    """One run. `seconds` are those in which it held its GPUs; `usd` is None where nobody has said a price.

    `since` is when it came into its phase, `restarts` those that count against its limit.
    """

    name: str
    team: str
    person: str
    phase: Phase
    place: str
    since: datetime
    gpus: int
    seconds: float
    usd: float | None
    priority: str
    restarts: int
    ahead: int
    why: str
    command: Sequence[str]

    @property
    def ended(self) -> bool:
        return self.phase in ENDED.values()

    @property
    def gpu_hours(self) -> float:
        return self.gpus * self.seconds / 3600

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "gpu_hours": round(self.gpu_hours, 3), "command": list(self.command)}


def states(
    job_sets: Sequence[Mapping[str, Any]],
    workloads: Sequence[Mapping[str, Any]],
    room: Room,
    spec: AddOnsSpec,
    now: datetime,
) -> list[RunState]:
    """The newest first. What others than Landbridge have made is left out."""
    live = {run.name: run for run in queued.read(workloads, room).runs}
    of_run = {
        owner["name"]: workload
        for workload in workloads
        for owner in workload["metadata"].get("ownerReferences") or []
        if owner["kind"] == JOB_SET
    }
    ours = [one for one in job_sets if RUN in one["metadata"].get("labels", {})]
    ours.sort(key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]), reverse=True)
    return [_state(one, of_run.get(name), live.get(name), spec, now) for one in ours for name in [_name(one)]]


def _name(job_set: Mapping[str, Any]) -> str:
    return str(job_set["metadata"]["name"])


def _state(
    job_set: Mapping[str, Any],
    workload: Mapping[str, Any] | None,
    run: queued.Run | None,
    spec: AddOnsSpec,
    now: datetime,
) -> RunState:
    meta, status = job_set["metadata"], job_set.get("status") or {}
    record = json.loads(meta["annotations"][RECORD])
    hosts = Hosts(record["hosts"], record["gpus_per_host"])
    phase: Phase = ENDED.get(str(status.get("terminalState")), run.state if run else "waits")
    if phase == "runs" and not all(
        one["ready"] or one["succeeded"] for one in status.get("replicatedJobsStatus") or [{"ready": 0, "succeeded": 0}]
    ):
        phase = "starts"
    end = _moment(status, status.get("terminalState"))
    begun = _moment(workload.get("status") or {}, "Admitted") if workload else None
    past = float((workload or {}).get("status", {}).get("accumulatedPastExecutionTimeSeconds") or 0)
    holds = begun is not None and phase in ("runs", *ENDED.values())
    seconds = past + (((end or now) - begun).total_seconds() if holds and begun else 0.0)
    place = queued.place_of(workload) if workload else ""
    return RunState(
        name=_name(job_set),
        team=record["team"],
        person=meta["annotations"][PERSON],
        phase=phase,
        place=place,
        since=end or (run.since if run else datetime.fromisoformat(meta["creationTimestamp"])),
        gpus=hosts.total,
        seconds=max(0.0, seconds),
        usd=_usd(spec, place, hosts, seconds),
        priority=record["run"]["priority"],
        restarts=int(status.get("restartsCountTowardsMax") or 0),
        ahead=run.ahead if run else 0,
        why=_why(job_set, phase, run),
        command=record["run"]["command"],
    )


def _why(job_set: Mapping[str, Any], phase: Phase, run: queued.Run | None) -> str:
    if phase == "failed":
        found = (job_set.get("status") or {}).get("conditions") or []
        return next((str(one.get("message", "")) for one in found if one["type"] == "Failed"), "")
    return run.why if run and phase != "done" else ""


def _usd(spec: AddOnsSpec, place: str, hosts: Hosts, seconds: float) -> float | None:
    pool = pool_at(spec, place, hosts) if place else None
    if pool is None:
        return 0.0 if not seconds else None
    an_hour = usd_an_hour(spec, pool, hosts)
    return None if an_hour is None else an_hour * seconds / 3600


def _moment(status: Mapping[str, Any], kind: str | None) -> datetime | None:
    """When a condition became true."""
    found = (one for one in status.get("conditions") or [] if one["type"] == kind and one["status"] == "True")
    return next((datetime.fromisoformat(one["lastTransitionTime"]) for one in found), None)

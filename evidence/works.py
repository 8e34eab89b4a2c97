"""What the objects above pods show: Jobs, JobSets, and Kueue's workloads. Pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .observation import Json, Observation, about, moment


class Row(NamedTuple):
    """A condition of that type with that reason (any, where it is empty) shows `code`, when it is True."""

    type: str
    reason: str
    code: str


SUSPENDED, RESUMED = "suspended", "resumed"

JOB = (
    Row("Failed", "DeadlineExceeded", "job-deadline"),
    Row("Failed", "BackoffLimitExceeded", "job-gave-up"),
    Row("Failed", "PodFailurePolicy", "job-failure-policy"),
    Row("Failed", "", "job-failed"),
    Row("Complete", "", "job-complete"),
    Row("Suspended", "", SUSPENDED),
)
JOB_SET = (
    Row("Failed", "ReachedMaxRestarts", "run-gave-up"),
    Row("Failed", "", "run-failed"),
    Row("Completed", "", "run-complete"),
    Row("Suspended", "", SUSPENDED),
)
WORKLOAD = (
    Row("Evicted", "Preempted", "queue-preempted"),
    Row("Evicted", "PodsReadyTimeout", "queue-not-ready"),
    Row("Evicted", "AdmissionCheck", "queue-no-machines"),
    Row("Evicted", "ClusterQueueStopped", "queue-stopped"),
    Row("Evicted", "LocalQueueStopped", "queue-stopped"),
    Row("Evicted", "NodeFailures", "queue-node-failures"),
    Row("Evicted", "MaximumExecutionTimeExceeded", "max-hours"),
    Row("Evicted", "DeactivatedDueToMaximumExecutionTimeExceeded", "max-hours"),
    Row("Evicted", "", "queue-deactivated"),
    Row("Finished", "", "queue-finished"),
)
TABLES: Mapping[str, tuple[Row, ...]] = {"job": JOB, "jobset": JOB_SET, "workload": WORKLOAD}
RESTARTS = "restarts"


def of_work(thing: Json, kind: str) -> list[Observation]:
    """`kind` is job, jobset or workload. In the order of their times."""
    return sorted(_of_work(thing, kind), key=lambda one: one.at)


def _of_work(thing: Json, kind: str) -> Iterator[Observation]:
    name, uid = about(thing, kind), str(thing["metadata"].get("uid", ""))
    status = thing.get("status") or {}
    source = {"workload": "Kueue", "jobset": "JobSet"}.get(kind, "job controller")
    reserved = False
    for one in status.get("conditions") or []:
        reserved = reserved or (one["type"] == "QuotaReserved" and one["status"] == "True")
        if code := _code(one, TABLES[kind]):
            facts = {"reason": one.get("reason") or ""}
            yield Observation(
                moment(one.get("lastTransitionTime")), source, name, code, str(one.get("message") or ""), uid, facts
            )
    if kind == "workload" and not reserved:
        yield from _waits(thing, name, uid)
    if restarts := int(status.get(RESTARTS) or 0):
        yield Observation(
            0.0, source, name, "run-restarted", f"it has been restarted {restarts} times", uid, {"restarts": restarts}
        )


def _code(condition: Json, rows: tuple[Row, ...]) -> str:
    if condition["status"] != "True":
        return RESUMED if condition["type"] == "Suspended" else ""
    reason = str(condition.get("reason") or "")
    return next((one.code for one in rows if one.type == condition["type"] and one.reason in ("", reason)), "")


def _waits(workload: Json, name: str, uid: str) -> Iterator[Observation]:
    """Kueue's own words on why it is not admitted."""
    spec, found = workload["spec"], (workload.get("status") or {}).get("conditions") or []
    created = moment(workload["metadata"].get("creationTimestamp"))
    told: Json = next((one for one in found if one["type"] == "QuotaReserved"), {})
    at, text = moment(told.get("lastTransitionTime")) or created, str(told.get("message") or "")
    if spec.get("active") is False:
        yield Observation(at, "Kueue", name, "queue-deactivated", "it is taken out of its queue", uid)
    else:
        yield Observation(at, "Kueue", name, "queue-waits", text, uid, {"queue": spec.get("queueName", "")})

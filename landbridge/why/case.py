"""All that can be seen of one pod: by the cluster's API as whoever asks, and in the audit log for operators."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from evidence import audit, events, nodes, pods, works
from evidence.causes import waiting
from evidence.judge import UNKNOWN, Verdict, judge
from evidence.observation import Json, Observation, moment
from landbridge.autoscaler import notes
from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError
from landbridge.experiments.manifest import ATTEMPT
from landbridge.experiments.manifest import RUN as RUN_LABEL
from landbridge.experiments.states import JOB_SETS
from landbridge.queue.look import WORKLOADS

from .audit_log import AuditLog
from .target import JOB, NODE, POD, RUN
from .waits import waits


class Above(NamedTuple):
    """What is above pods: its kind, what kubectl calls it, what the audit log does, and its pods' label."""

    kind: str
    asked: str
    logged: str
    label: str


ABOVE = {
    RUN: Above("JobSet", JOB_SETS, "jobsets", RUN_LABEL),
    JOB: Above("Job", "jobs.batch", "jobs", "batch.kubernetes.io/job-name"),
}
# Kind of an owner → what kubectl calls it. A run's workload belongs to its JobSet, which belongs to nobody.
WORKS = {**{row.kind: row.asked for row in ABOVE.values()}, "Workload": WORKLOADS}
# kubectl's words on a kind that the cluster does not have.
NO_KIND = "the server doesn't have a resource type"
JOB_SET_OF = "jobset.sigs.k8s.io/jobset-name"
# Phases: of a run that has no pods yet, of a pod, of a node, of what is not there.
WAITS, RUNS, READY, GONE = "Waiting", "Running", "ready", "gone"
NOTHING, WELL, WELL_ADVICE = "nothing", "Nothing has ended it: it goes on.", "Nothing is to be done."
# Causes that are somebody else's consequence: another host that shows one of those did not begin it.
FOLLOWS = {"signalled", "lost-with-kubelet", "collected", "deleted-by-job", "deleted-by-controller", "unknown", "done"}
EVENTS_OF_NODES = "default"


class Case(NamedTuple):
    """`thing` is asked about, as it is now or was last; `works` what it belongs to; `blind` what was not looked at."""

    kind: str
    thing: Json
    there: bool
    works: Mapping[str, Json]
    seen: Sequence[Observation]
    blind: Sequence[str]

    @property
    def name(self) -> str:
        meta = self.thing["metadata"]
        return "/".join(part for part in (meta.get("namespace", ""), meta["name"]) if part)

    @property
    def phase(self) -> str:
        """Kubernetes' of a pod, ready or not of a node, or `gone`."""
        if not self.there:
            return GONE
        status = self.thing.get("status") or {}
        if self.kind == NODE:
            ready = any(one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions") or [])
            return READY if ready else "not ready"
        return str(status.get("phase") or "Pending")

    @property
    def node(self) -> str:
        return str((self.thing.get("spec") or {}).get("nodeName") or "")

    @property
    def verdict(self) -> Verdict:
        if self.kind == NODE:
            found = judge(self.seen, NODE)
        else:
            # What runs waits for nothing any more, and what is gone was taken away, whatever it had waited for.
            over = self.phase in (RUNS, GONE)
            found = judge([one for one in self.seen if not (over and one.code in waiting())])
        goes_on = self.phase in (RUNS, READY) and found.code == UNKNOWN
        return found._replace(code=NOTHING, sentence=WELL, advice=WELL_ADVICE) if goes_on else found


class Looking:
    """Asks as one person. `log` is None for whom the fleet bucket is not open."""

    def __init__(self, kube: Kube, log: AuditLog | None) -> None:
        self.kube, self.log, self.blind = kube, log, dict[str, None]()

    def pod(self, namespace: str, name: str) -> Case | None:
        """None for one of which nothing is known."""
        pod = self.kube.find("pod", name, f"--namespace={namespace}")
        entries = self._logged([name])
        found = pod or audit.last_of(entries, "pods", namespace, name)
        return self._case(POD, found, entries, there=pod is not None) if found else None

    def work(self, kind: str, namespace: str, name: str) -> Case | None:
        """Of a run or a Job that has no pods: it waits, or it is gone. None where nothing is known of it."""
        row = ABOVE[kind]
        thing = self.kube.find(row.asked, name, f"--namespace={namespace}")
        entries = self._logged([name])
        last = thing or audit.last_of(entries, row.logged, namespace, name)
        if last is None:
            return None
        # What would be its pods', for all that is looked up by them.
        meta = {"namespace": namespace, "name": name, "ownerReferences": [{"kind": row.kind, "name": name}]}
        nobody = {"metadata": meta, "spec": {}, "status": {"phase": WAITS}}
        found = self._case(kind, nobody, entries, there=thing is not None)
        return found if thing else found._replace(works={row.kind: last})

    def node(self, name: str) -> Case | None:
        """None for one of which nothing is known."""
        node = self.kube.find("node", name)
        entries = self._logged([name])
        last = node or audit.last_of(entries, "nodes", "", name)
        if last is None:
            return None
        seen = [
            *(nodes.of_node(node) if node else []),
            *self._events(EVENTS_OF_NODES, "Node", name),
            *(one for entry in entries if (one := audit.of_entry(entry)) and one.about == f"{NODE}/{name}"),
        ]
        return Case(NODE, last, node is not None, {}, _of_this(seen, ""), [*self.blind])

    def _case(self, kind: str, pod: Json, entries: Sequence[Json], *, there: bool) -> Case:
        meta = pod["metadata"]
        space, uid, node = meta["namespace"], str(meta.get("uid", "")), str(pod["spec"].get("nodeName") or "")
        jobs: list[Callable[[], Any]] = [
            lambda: self._works(pod),
            lambda: self._events(space, "Pod", meta["name"]),
            lambda: self._node(node, moment(meta.get("creationTimestamp"))) if node else [],
            lambda: self._peers(pod),
            lambda: [] if node or kind != POD else self._waits(pod),
        ]
        with ThreadPoolExecutor(len(jobs)) as pool:
            above, *below = [one.result() for one in [pool.submit(job) for job in jobs]]
        owners = {*_above(pod), *(one["metadata"]["name"] for one in above.values())}
        more = self._logged([*owners, node, space])
        seen = [
            *pods.of_pod(pod),
            *(one for found in below for one in found),
            *(one for kind, thing in above.items() for one in works.of_work(thing, kind.lower())),
            *(one for entry in [*entries, *more] if (one := audit.of_entry(entry)) and _concerns(one, pod, owners)),
        ]
        return Case(kind, pod, there, above, _of_this(seen, uid), [*self.blind])

    def _works(self, pod: Json) -> dict[str, Json]:
        """By kind."""
        where = f"--namespace={pod['metadata']['namespace']}"
        try:
            found = list(self.kube.get(",".join(WORKS.values()), where)["items"])
        except KubeError as error:
            if NO_KIND not in error.result.err:
                self._not_seen("Jobs and runs", error)
                return {}
            # A cluster without queues has no runs.
            found = self._asked(where, WORKS["Job"], "Jobs")
        names = {*_above(pod)}
        above = {one["kind"]: one for one in found if one["kind"] != "Workload" and one["metadata"]["name"] in names}
        for one in found:
            if one["kind"] == "Workload" and names & {*_owners(one)}:
                above["Workload"] = one
        return above

    def _events(self, space: str, kind: str, name: str) -> list[Observation]:
        chosen = f"--field-selector=involvedObject.kind={kind},involvedObject.name={name}"
        found = self._asked(f"--namespace={space}", "events", "events" if kind == "Pod" else "events of nodes", chosen)
        return [one for event in found if (one := events.of_event(event))]

    def _node(self, name: str, since: float) -> list[Observation]:
        """As it is, and what was said of it while the pod was there."""
        try:
            node = self.kube.find("node", name)
        except KubeError as error:
            self._not_seen("nodes", error)
            return []
        said = [one for one in self._events(EVENTS_OF_NODES, "Node", name) if one.at >= since]
        return [*(nodes.of_node(node) if node else []), *said]

    def _peers(self, pod: Json) -> list[Observation]:
        """What ended another host of its run, before it."""
        meta = pod["metadata"]
        if (run := (meta.get("labels") or {}).get(RUN_LABEL)) is None:
            return []
        found = self._asked(f"--namespace={meta['namespace']}", "pods", "pods", f"--selector={RUN_LABEL}={run}")
        return [*peers(pod, found)]

    def _waits(self, pod: Json) -> list[Observation]:
        """Of one that has no node."""
        try:
            found = notes.read(self.kube).of(pod["metadata"]["name"], pod["metadata"]["namespace"])
        except LandbridgeError as error:
            self._not_seen("the autoscaler's notes", error)
            return []
        return [*waits(pod, [*found])]

    def _asked(self, where: str, what: str, words: str, *chosen: str) -> list[Json]:
        try:
            return list(self.kube.get(what, where, *chosen)["items"])
        except KubeError as error:
            self._not_seen(words, error)
            return []

    def _logged(self, names: Sequence[str]) -> list[Json]:
        if self.log is None:
            self.blind["the audit log, which is for operators"] = None
            return []
        try:
            return self.log.entries(names)
        except LandbridgeError as error:
            self._not_seen("the audit log", error)
            return []

    def _not_seen(self, what: str, error: LandbridgeError) -> None:
        forbidden = isinstance(error, KubeError) and error.forbidden
        self.blind[f"{what}, which are not for you" if forbidden else f"{what}: {error}"] = None


def _owners(thing: Json) -> Iterator[str]:
    for one in thing["metadata"].get("ownerReferences") or []:
        yield str(one["name"])


def _of_this(seen: Iterable[Observation], uid: str) -> list[Observation]:
    """Each once, and none of another pod that had the name before or has it now."""
    each = {one.line(): one for one in seen}.values()
    return [one for one in each if not one.about.startswith("pod/") or not one.uid or not uid or one.uid == uid]


def _above(pod: Json) -> Iterator[str]:
    """Names of what it belongs to, its run's too."""
    yield from _owners(pod)
    if run := (pod["metadata"].get("labels") or {}).get(JOB_SET_OF):
        yield str(run)


def _concerns(one: Observation, pod: Json, owners: Collection[str]) -> bool:
    """Whether that deletion is of the pod, of what it belongs to, of its namespace, or about its node."""
    meta = pod["metadata"]
    kind, _, name = one.about.partition("/")
    space = meta["namespace"]
    if kind == "pod":
        return name in (f"{space}/{meta['name']}", f"{space}/*")
    if kind in ("node", "namespace"):
        return name in (pod["spec"].get("nodeName"), space)
    return name in {f"{space}/{owner}" for owner in owners}


def peers(pod: Json, others: Sequence[Json]) -> Iterator[Observation]:
    """The first of the run's other hosts of the same attempt that ended by itself. Pure."""
    meta = pod["metadata"]
    ends = []
    for other in others:
        if other["metadata"]["uid"] != meta.get("uid") and attempt(other) == attempt(pod):
            found = judge(pods.of_pod(other))
            if found.at and found.code not in FOLLOWS and (other.get("status") or {}).get("phase") == "Failed":
                ends.append((found.at, str(other["metadata"]["name"]), found))
    for at, name, found in sorted(ends, key=lambda one: one[:2])[:1]:
        about = f"pod/{meta['namespace']}/{meta['name']}"
        yield Observation(
            at, "JobSet", about, "peer-failed", f"{name}: {found.sentence}", facts={"peer": f"pod/{name}"}
        )


def attempt(pod: Json) -> int:
    """Of its run, from 0 on."""
    return int((pod["metadata"].get("labels") or {}).get(ATTEMPT, 0))

"""What the cluster's own API says, as whoever asks; of what does not answer nothing, and it is told once."""

from typing import Any, NamedTuple

from evidence import events, nodes, pods
from evidence.observation import Json, Observation
from landbridge.autoscaler import notes
from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError
from landbridge.experiments.manifest import RUN as RUN_LABEL
from landbridge.experiments.states import JOB_SETS
from landbridge.queue.look import WORKLOADS

from .concerns import Host, above, owners, peers
from .target import JOB, RUN
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
EVENTS_OF_NODES = "default"


class Api:
    """`kube` is None for a cluster that is not up. `blind` is told what was not looked at, in the order of asking."""

    def __init__(self, kube: Kube | None, blind: dict[str, None]) -> None:
        self.kube, self.blind = kube, blind
        self.away = kube is None

    def find(self, *words: str) -> dict[str, Any] | None:
        """None for what is not there, and where nobody answers. Raises KubeError for what is not theirs."""
        if self.kube is None or self.away:
            return None
        try:
            return self.kube.find(*words)
        except KubeError as error:
            if error.forbidden or NO_KIND in error.result.err:
                raise
            self._is_away(error)
            return None

    def items(self, what: str, where: str, words: str, *chosen: str) -> list[Json]:
        if self.kube is None or self.away:
            return []
        try:
            return list(self.kube.get(what, where, *chosen)["items"])
        except KubeError as error:
            if error.forbidden or NO_KIND in error.result.err:
                self.not_seen(words, error)
            else:
                self._is_away(error)
            return []

    def _is_away(self, error: KubeError) -> None:
        """Whoever does not answer one question would be waited for at each of the others, too."""
        self.away = True
        self.not_seen("the cluster's API", error)

    def works(self, pod: Json) -> dict[str, Json]:
        """By kind."""
        where = f"--namespace={pod['metadata']['namespace']}"
        if self.kube is None or self.away:
            return {}
        try:
            found = list(self.kube.get(",".join(WORKS.values()), where)["items"])
        except KubeError as error:
            if NO_KIND not in error.result.err:
                self.not_seen("Jobs and runs", error)
                return {}
            # A cluster without queues has no runs.
            found = self.items(WORKS["Job"], where, "Jobs")
        names = {*above(pod)}
        of_it = {one["kind"]: one for one in found if one["kind"] != "Workload" and one["metadata"]["name"] in names}
        for one in found:
            if one["kind"] == "Workload" and names & {*owners(one)}:
                of_it["Workload"] = one
        return of_it

    def events(self, space: str, kind: str, name: str) -> list[Observation]:
        chosen = f"--field-selector=involvedObject.kind={kind},involvedObject.name={name}"
        found = self.items("events", f"--namespace={space}", "events" if kind == "Pod" else "events of nodes", chosen)
        return [one for event in found if (one := events.of_event(event))]

    def node(self, name: str, since: float) -> list[Observation]:
        """As it is, and what was said of it while the pod was there."""
        try:
            node = self.find("node", name)
        except KubeError as error:
            self.not_seen("nodes", error)
            return []
        said = [one for one in self.events(EVENTS_OF_NODES, "Node", name) if one.at >= since]
        return [*(nodes.of_node(node) if node else []), *said]

    def peers(self, pod: Json) -> list[Observation]:
        """What ended another host of its run, before it."""
        meta = pod["metadata"]
        if (run := (meta.get("labels") or {}).get(RUN_LABEL)) is None:
            return []
        found = self.items("pods", f"--namespace={meta['namespace']}", "pods", f"--selector={RUN_LABEL}={run}")
        return [*peers(Host(pod, pods.of_pod(pod)), [Host(one, pods.of_pod(one)) for one in found])]

    def waits(self, pod: Json) -> list[Observation]:
        """Of one that has no node."""
        if self.kube is None or self.away:
            return []
        try:
            found = notes.read(self.kube).of(pod["metadata"]["name"], pod["metadata"]["namespace"])
        except LandbridgeError as error:
            self.not_seen("the autoscaler's notes", error)
            return []
        return [*waits(pod, [*found])]

    def not_seen(self, what: str, error: LandbridgeError) -> None:
        forbidden = isinstance(error, KubeError) and error.forbidden
        self.blind[f"{what}, which are not for you" if forbidden else f"{what}: {error}"] = None

"""What the cluster's own API says, as whoever asks; of what does not answer nothing, and it is told once."""

import json
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from evidence import events, nodes, pods
from evidence.observation import Json, Observation
from landbridge.autoscaler import notes
from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError
from landbridge.experiments.manifest import RUN as RUN_LABEL
from landbridge.experiments.states import JOB_SETS
from landbridge.queue.look import WORKLOADS

from .concerns import Host, above, peers
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
# Kueue's own, on a workload: whose it is. A run's is its JobSet's, which belongs to nobody.
JOB_UID = "kueue.x-k8s.io/job-uid"
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
        """By kind. Of others' runs in the namespace, which may be thousands, nothing is asked."""
        where, names = f"--namespace={pod['metadata']['namespace']}", {*above(pod)}
        if self.kube is None or self.away or not names:
            return {}
        try:
            found = _named(self.kube, [row.asked for row in ABOVE.values()], names, where)
            if uids := ",".join(one["metadata"]["uid"] for one in found):
                found += self.kube.get(WORKLOADS, where, f"--selector={JOB_UID} in ({uids})")["items"]
        except KubeError as error:
            if NO_KIND not in error.result.err:
                self.not_seen("Jobs and runs", error)
                return {}
            # A cluster without queues has no runs.
            found = [one for one in self.items(ABOVE[JOB].asked, where, "Jobs") if one["metadata"]["name"] in names]
        return {one["kind"]: one for one in found}

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


def _named(kube: Kube, kinds: Iterable[str], names: Collection[str], where: str) -> list[Json]:
    """Those of them that are there. Raises KubeError."""
    asked = [f"{kind}/{name}" for kind in kinds for name in names]
    told = kube.done("get", *asked, where, "--ignore-not-found", "--output=json")
    # Where none is there kubectl says nothing.
    return list(json.loads(told)["items"]) if told.strip() else []

"""All that can be seen of one thing: by the cluster's API, in the recorder's records, in the end of the audit log."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar

from evidence import audit, nodes, pods, works
from evidence.observation import Json, Observation, moment
from evidence.record import GONE
from landbridge.errors import LandbridgeError

from .api import ABOVE, EVENTS_OF_NODES, Api
from .audit_log import AuditLog
from .case import WAITS, Case
from .concerns import NO_EVIDENCE, Host, Index, above, concerns, of_this
from .deaths import Death, failed, of_now, of_records
from .records import FOREVER, Gap, Records
from .target import NODE, POD

# What was told of a node, a run or a pod days before its end is told once more when it comes to it.
NEAR_SECONDS = 3 * 86_400.0
LAST_SEEN = "how it is now: this is how the recorder saw it last"
YET_TO_READ, WHO_SECONDS = "who deleted it: the recorder knows that within three minutes", 180.0
YET_TO_WRITE = "its last seconds, which the recorder writes within a minute or two"
# API machines bring their log a minute late, recorders read it within twenty seconds, and write within a minute.
AUDIT_LATE = timedelta(minutes=5)
Answer = TypeVar("Answer")


class Looking:
    """Asks as one person. `log` is None for whom it is not open."""

    def __init__(self, api: Api, log: AuditLog | None, records: Records) -> None:
        self.api, self.log, self.records, self.blind = api, log, records, api.blind

    def pod(self, namespace: str, name: str) -> Case | None:
        """None for one of which nothing is known."""
        # Most are there: what is not is looked for in a month of records.
        pod = self.api.find("pod", name, f"--namespace={namespace}")
        kept = None if pod else self._record(POD, f"{namespace}/{name}")
        entries = self._logged([name], *self._life(kept))
        found = pod or (kept and kept.facts["object"]) or audit.last_of(entries, "pods", namespace, name)
        at = kept.at if kept else self.records.now.timestamp()
        return self._case(POD, found, entries, there=pod is not None, at=at) if found else None

    def work(self, kind: str, namespace: str, name: str) -> Case | None:
        """Of a run or a Job that has no pods: it waits, or it is gone. None where nothing is known of it."""
        row = ABOVE[kind]
        thing = self.api.find(row.asked, name, f"--namespace={namespace}")
        kept = None if thing else self._record(row.kind.lower(), f"{namespace}/{name}")
        entries = self._logged([name], *self._life(kept))
        last = thing or (kept and kept.facts["object"]) or audit.last_of(entries, row.logged, namespace, name)
        if last is None:
            return None
        # What would be its pods', for all that is looked up by them.
        meta = {
            "namespace": namespace,
            "name": name,
            "ownerReferences": [{"kind": row.kind, "name": name}],
            "creationTimestamp": last["metadata"].get("creationTimestamp"),
        }
        nobody = {"metadata": meta, "spec": {}, "status": {"phase": WAITS}}
        at = kept.at if kept else self.records.now.timestamp()
        found = self._case(kind, nobody, entries, there=thing is not None, at=at)
        return found if thing else found._replace(works={row.kind: last})

    def node(self, name: str) -> Case | None:
        """None for one of which nothing is known."""
        node = self.api.find("node", name)
        kept = None if node else self._record(NODE, name)
        entries = self._logged([name], *self._life(kept))
        last = node or (kept and kept.facts["object"]) or audit.last_of(entries, "nodes", "", name)
        if last is None:
            return None
        at = kept.at if kept else self.records.now.timestamp()
        begun = max(moment(last["metadata"].get("creationTimestamp")), at - NEAR_SECONDS)
        seen = [
            *(nodes.of_node(node) if node else []),
            *self.api.events(EVENTS_OF_NODES, "Node", name),
            *self._recorded([name], begun, at),
            *(one for entry in entries if (one := audit.of_entry(entry))),
        ]
        mine = [one for one in seen if one.about == f"{NODE}/{name}"]
        there = node is not None or (self.api.away and all(one.code != GONE for one in mine))
        evidence = [one for one in mine if one.code not in NO_EVIDENCE]
        return Case(NODE, last, there, {}, of_this(evidence, ""), [*self.blind])

    def hosts(self, kind: str, namespace: str, name: str) -> list[Host]:
        """Pods of a run or a Job: those that are there, else those that were."""
        label = ABOVE[kind].label
        there = self.api.items("pods", f"--namespace={namespace}", "pods", f"--selector={label}={name}")
        if there:
            return [Host(one, pods.of_pod(one)) for one in there]
        last = self._record(ABOVE[kind].kind.lower(), f"{namespace}/{name}")
        near = (last.at - NEAR_SECONDS, last.at) if last else (0.0, FOREVER)
        kept = Index(self._recorded([name], *near))
        return [one for one in kept.pods(namespace) if (one.pod["metadata"].get("labels") or {}).get(label) == name]

    def spaces(self, kind: str, name: str) -> list[str]:
        """Where something is called so, else where something was."""
        what, kept = ("pods", POD) if kind == POD else (ABOVE[kind].asked, ABOVE[kind].kind.lower())
        chosen = f"--field-selector=metadata.name={name}"
        there = self.api.items(what, "--all-namespaces", what, chosen)
        found = {str(one["metadata"]["namespace"]) for one in there if one["metadata"]["name"] == name}
        none: set[str] = set()
        return sorted(found or self._of_records(lambda: self.records.spaces(kept, name), none))

    def deaths(self, space: str, back: timedelta) -> list[Death]:
        """Pods that did not end as they should, in a namespace or in all: the newest first."""
        since = (datetime.now(UTC) - back).timestamp()
        where = f"--namespace={space}" if space else "--all-namespaces"
        there, kept = self._both(lambda: self.api.items("pods", where, "pods"), lambda: self._recorded_deaths(since))
        mine = [one for one in kept if space in ("", one.pod["metadata"]["namespace"])]
        found = {str(one.pod["metadata"]["uid"]): one for one in mine}
        for one in of_now(there):
            found.setdefault(str(one.pod["metadata"]["uid"]), one)
        return failed(found.values())

    def _case(self, kind: str, pod: Json, entries: Sequence[Json], *, there: bool, at: float) -> Case:
        """`at` is when it was there last."""
        meta = pod["metadata"]
        space, uid, node = meta["namespace"], str(meta.get("uid", "")), str(pod["spec"].get("nodeName") or "")
        begun = moment(meta.get("creationTimestamp"))
        near = max(begun, at - NEAR_SECONDS)
        belongs, recorded, *below = self._both(
            lambda: self.api.works(pod),
            lambda: Index(self._recorded([meta["name"], node, f"namespace/{space}", *above(pod)], near, at)),
            lambda: self.api.events(space, "Pod", meta["name"]),
            lambda: self.api.node(node, begun) if node and there else [],
            lambda: self.api.peers(pod),
            lambda: [] if node or kind != POD else self.api.waits(pod),
        )
        of_it: Mapping[str, Json] = {**recorded.works(pod), **belongs}
        names = {*above(pod), *(one["metadata"]["name"] for one in of_it.values())}
        ended = recorded.ended(pod)
        more = self._logged([*names, node, space], near, ended, acts=True)
        seen = [
            *pods.of_pod(pod),
            *recorded.of_pod(pod),
            *(one for found in below for one in found),
            *(one for name, thing in belongs.items() for one in works.of_work(thing, name.lower())),
            *(
                one
                for entry in [*entries, *more]
                if (one := audit.of_entry(entry)) and concerns(one, pod, names, ended)
            ),
        ]
        for gap in self._gaps(near, ended):
            self.blind[f"what happened from {gap.since:%d %b %H:%M:%S} to {gap.until:%H:%M:%S} UTC: {gap.why}"] = None
        if not there and ended == float("inf"):
            # Where nobody answers it may well be there.
            there = self.api.away and kind == POD
            self.blind[LAST_SEEN if there else YET_TO_WRITE] = None
        elif not there and self.log is None and ended > self.records.now.timestamp() - WHO_SECONDS:
            self.blind[YET_TO_READ] = None
        return Case(kind, pod, there, of_it, of_this(seen, uid), [*self.blind])

    def _recorded_deaths(self, since: float) -> list[Death]:
        none: list[Death] = []
        return self._of_records(lambda: [*of_records(self.records.all(since), since)], none)

    def _both(self, *jobs: Callable[[], Any]) -> list[Any]:
        with ThreadPoolExecutor(len(jobs)) as pool:
            return [one.result() for one in [pool.submit(job) for job in jobs]]

    def _record(self, kind: str, name: str) -> Observation | None:
        return self._of_records(lambda: self.records.newest(kind, name), None)

    def _life(self, kept: Observation | None) -> tuple[float, float]:
        """Of a thing that the recorder saw go: nothing else concerns it. Of others, always."""
        if kept is None:
            return 0.0, FOREVER
        meta = kept.facts["object"]["metadata"]
        near = self._recorded([meta["name"]], kept.at, kept.at)
        gone = max((one.at for one in near if one.code == GONE and one.uid == kept.uid), default=FOREVER)
        return moment(meta.get("creationTimestamp")), gone

    def _recorded(self, names: Sequence[str], since: float, until: float) -> list[Observation]:
        return self._of_records(lambda: self.records.of(names, since, until), [])

    def _gaps(self, since: float, until: float) -> list[Gap]:
        none: list[Gap] = []
        return self._of_records(lambda: self.records.gaps(since, until), none)

    def _of_records(self, ask: Callable[[], Answer], nothing: Answer) -> Answer:
        try:
            return ask()
        except LandbridgeError as error:
            self.api.not_seen("the records", error)
            return nothing

    def _logged(
        self, names: Sequence[str], since: float = 0.0, until: float = FOREVER, *, acts: bool = False
    ) -> list[Json]:
        """Of that time, with what is late."""
        try:
            if self._unread is None:
                return []
            last = self.records.now.timestamp()
            span = (_time(since), _time(min(until + AUDIT_LATE.total_seconds(), last)))
            return self._unread.within([span]).entries(names, acts=acts)
        except LandbridgeError as error:
            self.api.not_seen("the audit log", error)
            return []

    @cached_property
    def _unread(self) -> AuditLog | None:
        """What of the audit log is not in the records: all where there are none."""
        last = self._of_records(lambda: self.records.until, None)
        if self.log is None or last is None:
            return self.log
        back = min(one for one, _ in self.log.spans)
        gaps = [(one.since - AUDIT_LATE, one.until) for one in self._gaps(back.timestamp(), FOREVER)]
        return self.log.within([*gaps, (last - AUDIT_LATE, self.records.now)])


def _time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)

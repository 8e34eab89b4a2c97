"""All that can be seen of one thing: by the cluster's API, in the recorder's records, in the end of the audit log."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
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
from .records import Gap, Records
from .target import NODE, POD

LAST_SEEN = "how it is now: this is how the recorder saw it last"
YET_TO_READ, WHO_SECONDS = "who deleted it: the recorder knows that within three minutes", 180.0
YET_TO_WRITE = "its last seconds, which the recorder writes within a minute or two"
# API machines bring their log a minute late, and recorders read it a minute later.
AUDIT_LATE = timedelta(minutes=15)
Answer = TypeVar("Answer")


class Looking:
    """Asks as one person. `log` and `records` are None for whom they are not open."""

    def __init__(self, api: Api, log: AuditLog | None, records: Records | None) -> None:
        self.api, self.log, self.records, self.blind = api, log, records, api.blind

    def pod(self, namespace: str, name: str) -> Case | None:
        """None for one of which nothing is known."""
        asked = self._both(
            lambda: self.api.find("pod", name, f"--namespace={namespace}"),
            lambda: self._record(POD, f"{namespace}/{name}"),
        )
        pod, kept = asked
        entries = self._logged([name])
        found = pod or kept or audit.last_of(entries, "pods", namespace, name)
        return self._case(POD, found, entries, there=pod is not None) if found else None

    def work(self, kind: str, namespace: str, name: str) -> Case | None:
        """Of a run or a Job that has no pods: it waits, or it is gone. None where nothing is known of it."""
        row = ABOVE[kind]
        thing = self.api.find(row.asked, name, f"--namespace={namespace}")
        entries = self._logged([name])
        kept = None if thing else self._record(row.kind.lower(), f"{namespace}/{name}")
        last = thing or kept or audit.last_of(entries, row.logged, namespace, name)
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
        found = self._case(kind, nobody, entries, there=thing is not None)
        return found if thing else found._replace(works={row.kind: last})

    def node(self, name: str) -> Case | None:
        """None for one of which nothing is known."""
        node = self.api.find("node", name)
        entries = self._logged([name])
        kept = None if node else self._record(NODE, name)
        last = node or kept or audit.last_of(entries, "nodes", "", name)
        if last is None:
            return None
        begun = moment(last["metadata"].get("creationTimestamp"))
        seen = [
            *(nodes.of_node(node) if node else []),
            *self.api.events(EVENTS_OF_NODES, "Node", name),
            *self._recorded([name], begun),
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
        kept = self._of_records(lambda records: Index(records.of([name])), Index([]))
        return [one for one in kept.pods(namespace) if (one.pod["metadata"].get("labels") or {}).get(label) == name]

    def spaces(self, kind: str, name: str) -> list[str]:
        """Where something is called so, else where something was."""
        what, kept = ("pods", POD) if kind == POD else (ABOVE[kind].asked, ABOVE[kind].kind.lower())
        chosen = f"--field-selector=metadata.name={name}"
        found = self.api.items(what, "--all-namespaces", what, chosen)
        if not found:
            found = self._of_records(lambda records: Index(records.of([f'/{name}"'])).objects(kept), [])
        return sorted({str(one["metadata"]["namespace"]) for one in found if one["metadata"]["name"] == name})

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

    def _case(self, kind: str, pod: Json, entries: Sequence[Json], *, there: bool) -> Case:
        meta = pod["metadata"]
        space, uid, node = meta["namespace"], str(meta.get("uid", "")), str(pod["spec"].get("nodeName") or "")
        begun = moment(meta.get("creationTimestamp"))
        belongs, recorded, *below = self._both(
            lambda: self.api.works(pod),
            lambda: Index(self._recorded([meta["name"], node, f"namespace/{space}", *above(pod)], begun)),
            lambda: self.api.events(space, "Pod", meta["name"]),
            lambda: self.api.node(node, begun) if node and there else [],
            lambda: self.api.peers(pod),
            lambda: [] if node or kind != POD else self.api.waits(pod),
        )
        of_it: Mapping[str, Json] = {**recorded.works(pod), **belongs}
        names = {*above(pod), *(one["metadata"]["name"] for one in of_it.values())}
        more = self._logged([*names, node, space])
        seen = [
            *pods.of_pod(pod),
            *recorded.of_pod(pod),
            *(one for found in below for one in found),
            *(one for name, thing in belongs.items() for one in works.of_work(thing, name.lower())),
            *(one for entry in [*entries, *more] if (one := audit.of_entry(entry)) and concerns(one, pod, names)),
        ]
        ended = recorded.ended(pod)
        self._gaps(begun, ended)
        if not there and ended == float("inf"):
            # Where nobody answers it may well be there.
            there = self.api.away and kind == POD
            self.blind[LAST_SEEN if there else YET_TO_WRITE] = None
        elif not there and self.log is None and ended > self._now() - WHO_SECONDS:
            self.blind[YET_TO_READ] = None
        return Case(kind, pod, there, of_it, of_this(seen, uid), [*self.blind])

    def _recorded_deaths(self, since: float) -> list[Death]:
        none: list[Death] = []
        return self._of_records(lambda records: [*of_records(records.all(since), since)], none)

    def _now(self) -> float:
        return self.records.now.timestamp() if self.records else 0.0

    def _both(self, *jobs: Callable[[], Any]) -> list[Any]:
        with ThreadPoolExecutor(len(jobs)) as pool:
            return [one.result() for one in [pool.submit(job) for job in jobs]]

    def _record(self, kind: str, name: str) -> Json | None:
        found = self._of_records(lambda records: records.newest(kind, name), None)
        return found.facts["object"] if found else None

    def _recorded(self, names: Sequence[str], since: float) -> list[Observation]:
        return self._of_records(lambda records: records.of(names, since), [])

    def _gaps(self, since: float, until: float) -> None:
        """Which of its time the recorder does not know."""
        if not since:
            return
        found: list[Gap] = self._of_records(lambda records: records.gaps(since, until), [])
        for one in found:
            self.blind[f"what happened from {one.since:%d %b %H:%M:%S} to {one.until:%H:%M:%S} UTC: {one.why}"] = None

    def _of_records(self, ask: Callable[[Records], Answer], nothing: Answer) -> Answer:
        if self.records is None:
            return nothing
        try:
            return ask(self.records)
        except LandbridgeError as error:
            self.api.not_seen("the records", error)
            return nothing

    def _logged(self, names: Sequence[str]) -> list[Json]:
        """What the recorder has read is in its records."""
        if self.log is None:
            return []
        if until := self._of_records(lambda records: records.until, None):
            self.log.since = max(self.log.since, until - AUDIT_LATE)
        try:
            return self.log.entries(names)
        except LandbridgeError as error:
            self.api.not_seen("the audit log", error)
            return []

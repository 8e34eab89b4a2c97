"""Which of many observations are of one pod: its own, of what it belongs to, of its node while it was there. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from evidence import record
from evidence.judge import SLACK_SECONDS, judge
from evidence.observation import Json, Observation, moment
from landbridge.experiments.manifest import ATTEMPT
from landbridge.experiments.manifest import RUN as RUN_LABEL

JOB_SET_OF = "jobset.sigs.k8s.io/jobset-name"
# Of the recorder's own: what things were, and what it was able to see.
NO_EVIDENCE = (record.RECORD, record.WATCHED, record.GAP)
# Causes that are somebody else's consequence: another host that shows one of those did not begin it.
FOLLOWS = {
    *("signalled", "lost-with-kubelet", "collected", "deleted-by-job", "deleted-by-controller"),
    *("scaled", "unknown", "done"),
}
# Conditions of a Job and of a JobSet that has ended.
ENDED = ("Complete", "Completed", "Failed")
WORKS = {"Job": "job", "JobSet": "jobset", "Workload": "workload"}


class Host(NamedTuple):
    """Another pod of a run, with what was seen of it."""

    pod: Json
    seen: Sequence[Observation]


def owners(thing: Json) -> Iterator[str]:
    for one in thing["metadata"].get("ownerReferences") or []:
        yield str(one["name"])


def above(pod: Json) -> Iterator[str]:
    """Names of what it belongs to, its run's too."""
    yield from owners(pod)
    if run := (pod["metadata"].get("labels") or {}).get(JOB_SET_OF):
        yield str(run)


def concerns(one: Observation, pod: Json, names: Collection[str], ended: float = float("inf")) -> bool:
    """Whether it is of the pod, of what it belongs to (`names`), its namespace or its node, while it was there."""
    meta = pod["metadata"]
    kind, _, name = one.about.partition("/")
    space = meta["namespace"]
    if kind == "pod":
        return name in (f"{space}/{meta['name']}", f"{space}/*")
    if one.at < moment(meta.get("creationTimestamp")) - SLACK_SECONDS or one.at > ended + SLACK_SECONDS:
        return False
    if kind in ("node", "namespace"):
        return name in (pod["spec"].get("nodeName"), space)
    return name in {f"{space}/{owner}" for owner in names}


def of_this(seen: Iterable[Observation], uid: str) -> list[Observation]:
    """Each once, and none of another pod that had the name before or has it now."""
    each = {one.line(): one for one in seen}.values()
    mine = [one for one in each if not one.about.startswith("pod/") or not one.uid or not uid or one.uid == uid]
    dated = {_what(one) for one in mine if one.at}
    last: dict[tuple[str, ...], float] = {}
    kept = []
    for one in sorted(mine, key=lambda one: one.at):
        # Two have seen it, at almost the same time; or one of them with no time at all.
        before = last.get(_what(one))
        if (not one.at and _what(one) in dated) or (before is not None and one.at - before <= SLACK_SECONDS):
            continue
        last[_what(one)] = one.at
        kept.append(one)
    return kept


def _what(one: Observation) -> tuple[str, ...]:
    return one.about, one.code, one.text, str(one.facts.get("container", "")), str(one.facts.get("restarts", ""))


def attempt(pod: Json) -> int:
    """Of its run, from 0 on."""
    return int((pod["metadata"].get("labels") or {}).get(ATTEMPT, 0))


def peers(host: Host, others: Sequence[Host]) -> Iterator[Observation]:
    """The first of the run's other hosts of the same attempt that ended by itself. Nobody ends what is done."""
    pod, own = host
    meta = pod["metadata"]
    if (pod.get("status") or {}).get("phase") == "Succeeded":
        return
    ends, mine = [], judge(own).at or float("inf")
    for other, seen in others:
        if other["metadata"]["uid"] != meta.get("uid") and attempt(other) == attempt(pod):
            found = judge(seen)
            if (
                0 < found.at <= mine + SLACK_SECONDS
                and found.code not in FOLLOWS
                and (other.get("status") or {}).get("phase") == "Failed"
            ):
                ends.append((found.at, str(other["metadata"]["name"]), found))
    for at, name, found in sorted(ends, key=lambda one: one[:2])[:1]:
        about = f"pod/{meta['namespace']}/{meta['name']}"
        yield Observation(
            at, "JobSet", about, "peer-failed", f"{name}: {found.sentence}", facts={"peer": f"pod/{name}"}
        )


class Index:
    """Many observations, by what they are about. What happened to a run before the pod was made was another's."""

    def __init__(self, seen: Iterable[Observation]) -> None:
        self.about: dict[str, list[Observation]] = defaultdict(list)
        self.records: dict[str, dict[str, Observation]] = defaultdict(dict)
        for one in seen:
            self.about[one.about].append(one)
            if one.code == record.RECORD:
                kind = one.about.partition("/")[0]
                before = self.records[kind].get(one.uid)
                self.records[kind][one.uid] = one if before is None or one.at >= before.at else before

    def of_pod(self, pod: Json) -> list[Observation]:
        """What happened to its node before and after it is not its own."""
        meta = pod["metadata"]
        space, uid = meta["namespace"], str(meta.get("uid", ""))
        begun, ended = moment(meta.get("creationTimestamp")), self.ended(pod)
        kinds = [f"{kind}/{space}/{name}" for name in {*above(pod), *self._workloads(pod)} for kind in WORKS.values()]
        own = [*self.about.get(f"pod/{space}/{meta['name']}", ()), *self.about.get(f"pod/{space}/*", ())]
        node = self.about.get(f"node/{pod['spec'].get('nodeName', '')}", ())
        found = [
            *(one for one in own if one.uid in ("", uid) or not uid),
            *(one for name in kinds for one in self.about.get(name, ()) if one.at >= begun - SLACK_SECONDS),
            *(one for one in node if begun - SLACK_SECONDS <= one.at <= ended + SLACK_SECONDS),
            *self.about.get(f"namespace/{space}", ()),
            *peers(Host(pod, self._own(pod)), self.hosts(pod)),
        ]
        return [one for one in found if one.code not in NO_EVIDENCE]

    def ended(self, pod: Json) -> float:
        """When its object went; for ever where it did not."""
        meta = pod["metadata"]
        own = self.about.get(f"pod/{meta['namespace']}/{meta['name']}", ())
        return max(
            (one.at for one in own if one.code == record.GONE and one.uid == meta.get("uid")), default=float("inf")
        )

    def works(self, pod: Json) -> dict[str, Json]:
        """By kind, as they were last; what was deleted before it had ended does nothing more."""
        space, names = pod["metadata"]["namespace"], {*above(pod), *self._workloads(pod)}
        found = {}
        for kind, short in WORKS.items():
            mine = [one for name in names for one in self._named(short, f"{short}/{space}/{name}") if self._counts(one)]
            if mine:
                found[kind] = max(mine, key=lambda one: one.at).facts["object"]
        return found

    def _counts(self, one: Observation) -> bool:
        status = one.facts["object"].get("status") or {}
        over = any(each["type"] in ENDED and each["status"] == "True" for each in status.get("conditions") or [])
        gone = any(each.code == record.GONE and each.uid == one.uid for each in self.about[one.about])
        return over or not gone

    def hosts(self, pod: Json) -> list[Host]:
        """Other pods of its run, without what others of them did."""
        meta = pod["metadata"]
        if (run := (meta.get("labels") or {}).get(RUN_LABEL)) is None:
            return []
        every = self.pods(meta["namespace"])
        return [one for one in every if (one.pod["metadata"].get("labels") or {}).get(RUN_LABEL) == run]

    def pods(self, namespace: str) -> list[Host]:
        """All that are known, without what others of them did."""
        there = [one for one in self.objects("pod") if one["metadata"]["namespace"] == namespace]
        return [Host(one, self._own(one)) for one in there]

    def objects(self, kind: str) -> list[Json]:
        return [one.facts["object"] for one in self.records[kind].values()]

    def _own(self, pod: Json) -> list[Observation]:
        meta = pod["metadata"]
        seen = self.about.get(f"pod/{meta['namespace']}/{meta['name']}", ())
        return [one for one in seen if one.uid == meta["uid"] and one.code not in NO_EVIDENCE]

    def _workloads(self, pod: Json) -> Iterator[str]:
        names, space = {*above(pod)}, pod["metadata"]["namespace"]
        for one in self.records["workload"].values():
            meta = one.facts["object"]["metadata"]
            if meta["namespace"] == space and names & {*owners(one.facts["object"])}:
                yield str(meta["name"])

    def _named(self, kind: str, about: str) -> list[Observation]:
        return [one for one in self.records[kind].values() if one.about == about]

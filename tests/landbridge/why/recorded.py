"""A cluster's hour, as its API told it to the recorder, and who asks about it a week later."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from evidence.observation import Observation, moment
from landbridge.clouds.cloud import CloudError
from landbridge.why import ask
from landbridge.why.api import Api
from landbridge.why.case import Case
from landbridge.why.looking import Looking
from landbridge.why.records import Records
from landbridge.why.target import target
from services.recorder import seeing
from services.recorder.book import Book
from services.recorder.contact import Contact
from services.recorder.settings import Settings
from services.recorder.things import Things
from services.recorder.where import Where
from services.recorder.writing import Writing
from tests.services.recorder.test_writing import Memory

BEGUN = moment("2026-11-20T10:00:00Z")
WEEK_LATER = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
RUN, ATTEMPT = "landbridge.dev/run", "jobset.sigs.k8s.io/restart-attempt"
Json = dict[str, Any]


def at(seconds: float) -> str:
    return datetime.fromtimestamp(BEGUN + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Read(Memory):
    """The same bucket, as commands see one."""

    def __init__(self, store: Memory) -> None:
        super().__init__()
        self.objects = store.objects

    def listed(self, prefix: str) -> list[Any]:
        if self.away:
            raise CloudError("s3://example can't be listed: it does not answer")
        return [SimpleNamespace(key=key) for key in super().listed(prefix)]

    def read(self, key: str) -> bytes | None:
        return self.objects.get(key)


class Recorded:
    """A cluster's hour, as its API told it to the recorder."""

    def __init__(self) -> None:
        self.now = BEGUN
        self.last: dict[str, Json] = {}
        self.book, self.store, self.where = Book(), Memory(), Where(lambda: self.now)

        def clock() -> float:
            return self.now

        self.things = {
            kind.name: Things(kind, self.book, self.where.of_pod, now=clock)
            if kind is seeing.POD
            else Things(kind, self.book, now=clock)
            for kind in seeing.kinds(queues=True)
        }
        told = Settings("main", "s3://example", ["vision"], queues=True, audit=[], machines=[])
        self.writing = Writing(self.book, Contact(clock), self.store, told, "recorder-1", self.where.spaces, BEGUN)

    def node(self, name: str, change: str = "ADDED", **status: Any) -> None:
        meta = {
            "name": name,
            "uid": f"uid-{name}",
            "creationTimestamp": at(0),
            "labels": {"landbridge.dev/pool": "west-gpu"},
        }
        node = {"metadata": meta, "spec": {}, "status": status}
        self.things["node"].changed(change, node)
        self.where.node(node)

    def pod(self, name: str, change: str = "MODIFIED", run: str = "train", node: str = "gpu-1", **status: Any) -> Json:
        labels = {RUN: run, "jobset.sigs.k8s.io/jobset-name": run, ATTEMPT: "0"}
        meta = {
            "name": name,
            "namespace": "team-vision",
            "uid": f"uid-{name}",
            "creationTimestamp": at(0),
            "labels": labels,
            "ownerReferences": [{"kind": "Job", "name": f"{run}-workers-0"}],
        }
        status = self.last[name] = {**self.last.get(name, {}), **status}
        spec = {"nodeName": node, "containers": [{"name": "run", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}
        pod = {"metadata": meta, "spec": spec, "status": {"startTime": at(0), **status}}
        self.where.pod(pod)
        self.things["pod"].changed(change, pod)
        if change == "DELETED":
            self.where.pod_left(pod)
        return pod

    def ended(self, name: str, code: int, seconds: float, **more: Any) -> None:
        ended = {"exitCode": code, "reason": "Error", "startedAt": at(0), "finishedAt": at(seconds)}
        self.now = BEGUN + seconds
        status = {
            "phase": "Failed",
            "containerStatuses": [{"name": "run", "restartCount": 0, "state": {"terminated": ended}}],
        }
        self.pod(name, **{**status, **more})

    def gone(self, name: str, seconds: float, **more: Any) -> None:
        self.now = BEGUN + seconds
        self.pod(name, "DELETED", **more)

    def saw(self, one: Observation) -> None:
        self.book.add(one)

    def write(self, seconds: float) -> None:
        self.now = BEGUN + seconds
        self.writing.step(self.now)

    def records(self, team: str = "", now: datetime = WEEK_LATER, bucket: Any = None) -> Records:
        below = f"team-records/{team}/main/" if team else "records/main/"
        return Records(lambda: bucket or Read(self.store), below, now - timedelta(days=30), now)

    def looking(self, team: str = "", **more: Any) -> Looking:
        return Looking(Api(None, {}), None, self.records(team, **more))

    def why(self, what: str, team: str = "") -> Case:
        return ask.case(self.looking(team), target(what), "team-vision", 30)

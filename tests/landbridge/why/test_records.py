"""Answers about what is gone, from what the recorder wrote of it: with no cluster to be asked any more."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from evidence.events import of_event
from evidence.observation import Observation, moment
from landbridge.clouds.cloud import CloudError
from landbridge.cluster.kube import KubeError
from landbridge.errors import LandbridgeError
from landbridge.remote_execution import CommandResult
from landbridge.why import ask
from landbridge.why.api import Api
from landbridge.why.case import Case
from landbridge.why.deaths import failed, of_records
from landbridge.why.looking import Looking
from landbridge.why.records import Records
from landbridge.why.target import target
from landbridge.why.work import meaning
from services.recorder import seeing
from services.recorder.book import Book
from services.recorder.contact import Contact
from services.recorder.day_files import DayFiles
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
        self.objects, self.away = store.objects, False

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
        told = Settings("main", "s3://example", ["vision"], queues=True, audit=[], regions=[])
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
        self.where.node(node, [])

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


@pytest.fixture
def recorded() -> Recorded:
    made = Recorded()
    made.node("gpu-1")
    return made


@pytest.mark.parametrize("team", ["", "vision"])
@pytest.mark.parametrize("as_day", [False, True])
def test_an_end_of_a_week_ago_has_its_cause(recorded: Recorded, team: str, as_day: bool) -> None:
    recorded.ended("train-0", 7, 600)
    recorded.saw(
        Observation(
            BEGUN + 600,
            "kubelet",
            "pod/team-vision/train-0",
            "last-lines",
            "no such file\n",
            "uid-train-0",
            {"container": "run"},
        )
    )
    recorded.gone("train-0", 620)
    recorded.write(660)
    if as_day:
        DayFiles(recorded.store, ["records/main/", "team-records/vision/main/"]).step(BEGUN + 86_400)
    found = recorded.why("pod/train-0", team)
    assert (found.verdict.code, found.phase, found.node) == ("exited", "gone", "gpu-1")
    assert found.verdict.sentence == "Its own program ended with exit code 7, in container run."
    assert [one.text for one in found.verdict.evidence if one.code == "last-lines"] == ["no such file\n"]
    assert recorded.why("run/train", team).verdict.code == "exited"


def test_its_node_s_end_is_the_cause_and_what_the_node_did_after_it_is_not(recorded: Recorded) -> None:
    silent = {
        "type": "Ready",
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
        "lastTransitionTime": at(600),
    }
    recorded.pod("train-0", "ADDED", phase="Running")
    recorded.node("gpu-1", "MODIFIED", conditions=[silent])
    marked = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "m",
        "lastTransitionTime": at(900),
    }
    recorded.gone("train-0", 905, phase="Running", conditions=[marked])
    recorded.write(960)
    event = {
        "involvedObject": {"kind": "Node", "name": "gpu-1"},
        "reason": "Rebooted",
        "message": "Node gpu-1 has been rebooted",
        "lastTimestamp": at(5000),
        "metadata": {"uid": "e1", "creationTimestamp": at(5000)},
        "source": {"component": "kubelet"},
    }
    late = of_event(event)
    assert late is not None
    recorded.saw(late)
    recorded.write(5100)
    found = recorded.why("pod/train-0")
    assert found.verdict.code == "node-silent"
    assert "rebooted" not in [one.code for one in found.seen]
    assert recorded.why("node/gpu-1").verdict.code in ("rebooted", "node-silent")


def test_another_host_that_ended_first_is_named(recorded: Recorded) -> None:
    for name in ("train-0", "train-1"):
        recorded.pod(name, "ADDED", phase="Running")
    recorded.ended("train-1", 3, 300)
    recorded.ended("train-0", 143, 302)
    for name in ("train-0", "train-1"):
        recorded.gone(name, 310)
    recorded.write(360)
    found = recorded.why("pod/train-0")
    assert (found.verdict.code, found.verdict.sentence.partition(":")[0]) == (
        "peer-failed",
        "Another host of its run ended first, and a run restarts or ends as a whole",
    )
    assert recorded.why("run/train").thing["metadata"]["name"] == "train-1"


def test_a_run_that_is_gone_says_that_nobody_starts_it_again(recorded: Recorded) -> None:
    run = {
        "metadata": {"name": "train", "namespace": "team-vision", "uid": "r1", "creationTimestamp": at(0)},
        "spec": {"failurePolicy": {"maxRestarts": 3}},
        "status": {
            "terminalState": "Failed",
            "restartsCountTowardsMax": 3,
            "conditions": [
                {
                    "type": "Failed",
                    "status": "True",
                    "reason": "ReachedMaxRestarts",
                    "message": "m",
                    "lastTransitionTime": at(601),
                }
            ],
        },
    }
    recorded.ended("train-0", 7, 600)
    recorded.things["jobset"].changed("MODIFIED", run)
    recorded.gone("train-0", 620)
    recorded.write(660)
    assert meaning(recorded.why("pod/train-0")) == "Its run train has ended: failed, with 3 of 3 restarts used."


def test_a_run_that_was_stopped_goes_on_no_more(recorded: Recorded) -> None:
    meta = {"name": "train", "namespace": "team-vision", "uid": "r1", "creationTimestamp": at(0)}
    run: Json = {"metadata": meta, "spec": {"failurePolicy": {"maxRestarts": 3}}, "status": {"restarts": 1}}
    recorded.ended("train-0", 143, 600)
    recorded.things["jobset"].changed("ADDED", run)
    recorded.write(610)
    assert meaning(recorded.why("pod/train-0")).startswith("Its run train goes on.")
    recorded.things["jobset"].changed("DELETED", run)
    recorded.gone("train-0", 620)
    recorded.write(660)
    assert meaning(recorded.why("pod/train-0")) == (
        "It belonged to Job train-workers-0, which is gone: nobody makes another one."
    )


def test_time_that_nobody_watched_is_said(recorded: Recorded) -> None:
    recorded.pod("train-0", "ADDED", phase="Running")
    recorded.write(660)
    recorded.writing.until = BEGUN + 1860  # another recorder began 20 minutes later
    recorded.gone("train-0", 1900, phase="Running")
    recorded.write(1920)
    found = recorded.why("pod/train-0")
    assert found.blind[0] == "what happened from 20 Nov 10:11:00 to 10:31:00 UTC: the recorder has written nothing"
    assert found.verdict.code == "unknown"


def test_what_is_not_written_yet_is_no_gap(recorded: Recorded) -> None:
    recorded.pod("train-0", "ADDED", phase="Running")
    recorded.write(660)
    soon = datetime.fromtimestamp(BEGUN + 900, UTC)
    assert recorded.records(now=soon).gaps(BEGUN, float("inf")) == []


def test_a_bucket_that_is_away_is_said_and_no_answer(recorded: Recorded) -> None:
    bucket = Read(recorded.store)
    bucket.away = True
    looking = recorded.looking(bucket=bucket)
    with pytest.raises(LandbridgeError, match=r"has no pod train-0.*could not look at the records: s3://example can't"):
        ask.case(looking, target("pod/train-0"), "team-vision", 30)


def test_parts_that_become_a_file_while_they_are_read_are_read_there(recorded: Recorded) -> None:
    recorded.ended("train-0", 7, 600)
    recorded.write(660)
    records = recorded.records()
    assert records.keys
    DayFiles(recorded.store, ["records/main/"]).step(BEGUN + 86_400)
    found = records.newest("pod", "team-vision/train-0")
    assert found is not None


def test_what_ended_is_listed_with_its_hours(recorded: Recorded) -> None:
    recorded.ended("train-0", 7, 1800)
    recorded.ended("fine-0", 0, 1800, phase="Succeeded")
    for name in ("train-0", "fine-0"):
        recorded.gone(name, 1810)
    recorded.write(1860)
    every = {one.title: one for one in of_records(recorded.records().all())}
    assert every.keys() == {"team-vision/train-0", "team-vision/fine-0"}
    (one,) = failed(every.values())
    assert (one.title, one.team, one.gpus, one.pool, one.gpu_hours) == (
        "team-vision/train-0",
        "vision",
        8,
        "west-gpu",
        4.0,
    )


class Silent:
    """A cluster's API that does not answer."""

    def __init__(self) -> None:
        self.asked = 0

    def find(self, *words: str) -> None:
        self.asked += 1
        raise KubeError(f"kubectl {' '.join(words)} failed: no answer within 4 s", CommandResult(1, "", "no answer"))

    get = find


def test_while_the_api_is_away_what_was_seen_last_is_told_and_nobody_is_asked_twice(recorded: Recorded) -> None:
    recorded.ended("train-0", 7, 600)
    recorded.write(660)
    kube = Silent()
    looking = Looking(Api(kube, {}), None, recorded.records())  # type: ignore[arg-type]
    found = ask.case(looking, target("pod/train-0"), "team-vision", 30)
    assert (found.verdict.code, found.phase) == ("exited", "Failed")
    assert kube.asked == 1
    assert [one.partition(":")[0] for one in found.blind][-1] == "how it is now"
    assert any(one.startswith("the cluster's API: kubectl pod train-0") for one in found.blind)
    recorded.gone("train-0", 700)
    recorded.write(720)
    looking = Looking(Api(Silent(), {}), None, recorded.records())  # type: ignore[arg-type]
    assert ask.case(looking, target("pod/train-0"), "team-vision", 30).phase == "gone"


def test_what_went_just_now_is_not_told_by_what_was_before(recorded: Recorded) -> None:
    recorded.pod("train-0", "ADDED", phase="Running")
    recorded.ended("train-0", 7, 5, phase="Running")
    recorded.pod("train-0", phase="Running", containerStatuses=[])
    recorded.write(660)
    kube = Silent()
    kube.find = lambda *_: None  # type: ignore[method-assign]
    kube.get = lambda *_: {"items": []}  # type: ignore[method-assign, assignment]
    looking = Looking(Api(kube, {}), None, recorded.records())  # type: ignore[arg-type]
    found = ask.case(looking, target("pod/train-0"), "team-vision", 30)
    assert found.phase == "gone"
    assert any(one.startswith("its last seconds") for one in found.blind)

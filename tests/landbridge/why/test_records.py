"""Answers about what is gone, from what the recorder wrote of it: with no cluster to be asked any more."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from evidence.events import of_event
from evidence.observation import Observation
from landbridge.cluster.kube import KubeError
from landbridge.commands import why
from landbridge.errors import LandbridgeError, UsageError
from landbridge.output import output
from landbridge.remote_execution import CommandResult
from landbridge.why import ask
from landbridge.why.api import Api
from landbridge.why.deaths import failed, of_records
from landbridge.why.looking import Looking
from landbridge.why.target import target
from landbridge.why.work import meaning
from services.recorder.merging import Merging
from services.recorder.parts import Span, gap, packed, watched

from .recorded import BEGUN, Json, Read, Recorded, at


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
        Merging(recorded.store, ["records/main/", "team-records/vision/main/"]).step(BEGUN + 86_400)
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
    recorded.writing.told = dict.fromkeys(
        recorded.writing.told, BEGUN + 1860
    )  # another recorder began 20 minutes later
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
    Merging(recorded.store, ["records/main/"]).step(BEGUN + 86_400)
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

    get = done = find


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
    kube.done = lambda *_, **__: ""  # type: ignore[method-assign, assignment]
    looking = Looking(Api(kube, {}), None, recorded.records())  # type: ignore[arg-type]
    found = ask.case(looking, target("pod/train-0"), "team-vision", 30)
    assert found.phase == "gone"
    assert any(one.startswith("its last seconds") for one in found.blind)


def test_a_gap_of_one_replica_is_none_where_the_other_knew_all(recorded: Recorded) -> None:
    def part(replica: str, since: float, until: float, *more: Observation) -> None:
        key = f"records/main/2026-11-20/10{int(until / 60):02}00-{replica}.jsonl.gz"
        recorded.store.put(key, packed([watched(Span(BEGUN + since, BEGUN + until), replica), *more]))

    def forgot(replica: str, since: float, until: float) -> Observation:
        return gap(Span(BEGUN + since, BEGUN + until), replica, "the API server has forgotten it")

    part("a", 0, 600, forgot("a", 100, 200))
    part("b", 0, 600)
    assert recorded.records().gaps(BEGUN, BEGUN + 600) == []
    part("b", 600, 1200, forgot("b", 700, 800))
    part("a", 600, 1200, forgot("a", 750, 900))
    (found,) = recorded.records().gaps(BEGUN, BEGUN + 1200)
    assert (found.since.timestamp() - BEGUN, found.until.timestamp() - BEGUN) == (750, 800)
    assert found.why == "the API server has forgotten it"


def test_of_what_is_long_gone_no_more_days_are_kept_than_it_needs(recorded: Recorded) -> None:
    recorded.ended("train-0", 7, 600)
    recorded.gone("train-0", 620)
    recorded.write(660)
    for day in range(1, 7):
        recorded.pod(f"later-{day}", "ADDED", phase="Running")
        recorded.gone(f"later-{day}", day * 86_400)
        recorded.write(day * 86_400 + 60)
    looking = recorded.looking()
    said: list[str] = []
    looking.records.say = said.append
    assert ask.case(looking, target("pod/train-0"), "team-vision", 30).verdict.code == "exited"
    assert len(looking.records._lines) <= 5
    assert said[0] == "Looking through the records of 24 November"
    assert ask.only_space(looking, target("pod/train-0")) == "team-vision"


def test_a_picture_that_can_t_be_written_is_a_mistake_of_whoever_named_it(recorded: Recorded, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no/r\.svg: No such file or directory: name another file with --picture\."):
        why._report(recorded.looking(), "main", "", tmp_path / "no/r.svg", output(as_json=False))

"""What is asked about, what an end means for the work, which parts of the audit log are read, and whose end came first."""

import gzip
import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from evidence import pods
from evidence.judge import judge
from evidence.observation import Observation, moment
from landbridge.autoscaler.causes import CAUSES
from landbridge.errors import UsageError
from landbridge.why import ask
from landbridge.why.audit_log import AuditLog
from landbridge.why.case import Case
from landbridge.why.concerns import Host, concerns, peers
from landbridge.why.deaths import ended
from landbridge.why.target import Target, target
from landbridge.why.waits import FAMILIES, waits
from landbridge.why.work import meaning

NOW = datetime(2026, 11, 28, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", ["pod/train-0", "po/train-0", "pods/train-0"])
def test_a_pod_is_named_as_kubectl_does(text: str) -> None:
    assert target(text) == Target("pod", "train-0")


def test_a_machine_is_its_node() -> None:
    assert target("machine/i-0123456789abcdef0") == target("node/i-0123456789abcdef0")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "train-0",
            r"^train-0: what is that\? Write pod/NAME, run/NAME, job/NAME or node/NAME, such as pod/train-0\.$",
        ),
        ("pod/", "what is that"),
        ("a/b/c", "what is that"),
        ("secret/x", "knows pods, runs, Jobs and nodes, not secret"),
    ],
)
def test_what_it_does_not_know_is_refused_with_what_would_do(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        target(text)


def test_the_remedy_of_that_is_taken() -> None:
    with pytest.raises(UsageError) as raised:
        target("train-0")
    (remedy,) = re.findall(r"such as (\S+)\.$", str(raised.value))
    assert target(remedy) == Target("pod", "train-0")


def case(owner: str = "", folder: str = "", **works: Any) -> Case:
    env = [{"name": "CHECKPOINT_DIR", "value": folder}] if folder else []
    owners = [{"kind": owner, "name": "train"}] if owner else []
    pod = {
        "metadata": {"namespace": "team-a", "name": "train-0", "ownerReferences": owners},
        "spec": {"containers": [{"name": "run", "env": env}]},
    }
    return Case("pod", pod, False, works, [], [])


def run(suspend: bool = False, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "train"},
        "spec": {"suspend": suspend, "failurePolicy": {"maxRestarts": 3}},
        "status": {"restartsCountTowardsMax": 1, **status},
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (case(), "It belonged to nothing: nobody makes another one."),
        (case(JobSet=run())._replace(kind="run"), "It is gone, and nothing of it starts again."),
        (case("ReplicaSet"), "Its Deployment makes another one."),
        (case("JobSet"), "It belonged to JobSet train, which is gone: nobody makes another one."),
        (
            case("Job", JobSet=run(terminalState="Failed")),
            "Its run train has ended: failed, with 1 of 3 restarts used.",
        ),
        (case("Job", JobSet=run(suspend=True)), "waits in its queue, and starts again as a whole, from its beginning."),
        (case("Job", "/checkpoints/runs/train", JobSet=run()), "from what it wrote to /checkpoints/runs/train; 1 of 3"),
        (
            case("Job", Job={"metadata": {"name": "j"}, "spec": {"backoffLimit": 2}, "status": {"failed": 1}}),
            "Its Job j makes another one: 1 of 3 pods have failed.",
        ),
    ],
)
def test_it_says_what_becomes_of_the_work(given: Case, words: str) -> None:
    assert words in meaning(given)


class Bucket:
    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects, self.read_keys = objects, list[str]()

    def listed(self, prefix: str) -> list[Any]:
        return [SimpleNamespace(key=key) for key in self.objects if key.startswith(prefix)]

    def read(self, key: str) -> bytes | None:
        self.read_keys.append(key)
        return self.objects[key]


def log(hours: float) -> tuple[AuditLog, Bucket]:
    """One API machine's, and another's that began a day ago."""
    line = b'{"verb":"delete","objectRef":{"resource":"pods","name":"train-0"},"requestReceivedTimestamp":"%s"}\n'
    parts = {
        "a/2026-11-27/230000.000000Z-000000000000.jsonl.gz": b"2026-11-27T23:30:00Z",
        "a/2026-11-28/080000.000000Z-000000000100.jsonl.gz": b"2026-11-28T08:00:01Z",
        "a/2026-11-28/093000.000000Z-000000000200.jsonl.gz": b"2026-11-28T09:40:00Z",
        "b/2026-11-28/060000.000000Z-000000000000.jsonl.gz": b"2026-11-28T09:50:00Z",
    }
    bucket = Bucket({f"audit/main/{key}": gzip.compress(line % at) for key, at in parts.items()})
    bucket.objects["audit/other/a/2026-11-28/093000.000000Z-0.jsonl.gz"] = gzip.compress(line)
    info = SimpleNamespace(name="main", api=[SimpleNamespace(name="a"), SimpleNamespace(name="b")])
    return AuditLog(bucket, info, [(NOW - timedelta(hours=hours), NOW)]), bucket  # type: ignore[arg-type]


def test_only_parts_of_the_time_are_read_and_each_once() -> None:
    """The last that begins before it too: what it ends with may be of the time."""
    found, bucket = log(1)
    names = [str(one["requestReceivedTimestamp"]) for one in found.entries(["train-0"])]
    assert names == ["2026-11-28T08:00:01Z", "2026-11-28T09:40:00Z", "2026-11-28T09:50:00Z"]
    assert found.entries(["train-1", ""]) == []
    assert len(bucket.read_keys) == 3
    everything, _ = log(24)
    assert len(everything.entries(["train-0"])) == 4


def test_of_a_day_with_gaps_only_they_are_read() -> None:
    whole, bucket = log(24)
    eight = NOW.replace(hour=8, minute=0, second=0)
    gaps = [(NOW - timedelta(days=3), eight - timedelta(hours=30)), (eight, eight + timedelta(minutes=5))]
    assert [str(one["requestReceivedTimestamp"])[11:16] for one in whole.within(gaps).entries(["train-0"])] == [
        "08:00",
        "09:50",
    ]
    assert [key.split("/")[2:] for key in bucket.read_keys] == [
        ["a", "2026-11-28", "080000.000000Z-000000000100.jsonl.gz"],
        ["b", "2026-11-28", "060000.000000Z-000000000000.jsonl.gz"],
    ]


def host(name: str, at: str, code: int, attempt: int = 0) -> dict[str, Any]:
    state = {"terminated": {"exitCode": code, "reason": "Error", "startedAt": at, "finishedAt": at}}
    return {
        "metadata": {
            "namespace": "team-a",
            "name": name,
            "uid": name,
            "creationTimestamp": at,
            "labels": {"jobset.sigs.k8s.io/restart-attempt": str(attempt)},
        },
        "spec": {},
        "status": {"phase": "Failed", "containerStatuses": [{"name": "run", "state": state}]},
    }


def seen(found: list[dict[str, Any]]) -> list[Host]:
    return [Host(one, pods.of_pod(one)) for one in found]


def test_the_host_that_ended_first_by_itself_is_named() -> None:
    mine = host("train-0", "2026-11-28T10:00:09Z", 143)
    others = [
        mine,
        host("train-1", "2026-11-28T10:00:05Z", 1),
        host("train-2", "2026-11-28T10:00:03Z", 143),
        host("train-3", "2026-11-28T10:00:06Z", 2),
        host("train-4", "2026-11-28T09:00:00Z", 1, attempt=10),
    ]
    (found,) = peers(seen([mine])[0], seen(others))
    assert (found.code, found.facts["peer"]) == ("peer-failed", "pod/train-1")
    assert "exit code 1" in found.text
    assert not [*peers(seen([mine])[0], seen([mine, others[2]]))]


def test_hosts_that_one_decision_ended_do_not_blame_each_other() -> None:
    mine, other = (host(name, "2026-11-28T10:00:05Z", 0) for name in ("train-0", "train-1"))
    scaled = Observation(moment("2026-11-28T10:00:05Z"), "audit log", "pod/team-a/train-1", "scaled", "m", "train-1")
    assert not [*peers(Host(mine, []), [Host(other, [scaled])])]


def test_what_was_done_to_its_node_before_it_came_and_after_it_went_is_not_its_own() -> None:
    """A cordon of last week that was taken back is no reason for today's eviction."""
    pod = host("train-0", "2026-11-28T10:00:00Z", 0) | {"spec": {"nodeName": "gpu-1"}}
    begun, ended = moment("2026-11-28T10:00:00Z"), moment("2026-11-28T11:00:00Z")

    def counts(at: float, about: str) -> bool:
        return concerns(Observation(at, "audit log", about, "cordoned", "m"), pod, {"night"}, ended)

    for about in ("node/gpu-1", "namespace/team-a", "job/team-a/night"):
        assert [counts(at, about) for at in (begun - 60, begun + 60, ended + 60)] == [False, True, False]
    assert counts(begun - 60, "pod/team-a/train-0")


def test_why_nothing_is_bought_is_told_by_what_would_help() -> None:
    pod = {"metadata": {"namespace": "team-a", "name": "x", "uid": "u", "creationTimestamp": "2026-11-28T10:00:00Z"}}
    misfit = {"code": "too-large", "group": "main-gpu", "text": "it asks for 16 GPUs, a machine has 8"}
    limit = {"code": "owner-gpus", "group": "main-gpu", "text": "team a has its 16 GPUs"}
    (found,) = waits(pod, [{"causes": [limit]}, {"causes": [misfit, {**misfit, "group": "big-gpu"}]}])
    assert (found.code, found.text.count("a machine has 8")) == ("pool-misfit", 2)
    (found,) = waits(pod, [{"causes": [misfit, limit]}])
    assert (found.code, found.text) == ("pool-limit", "main-gpu: team a has its 16 GPUs")
    no_node = Observation(found.at + 3, "scheduler", found.about, "no-node", "0/3 nodes are available", "u")
    assert [judge([no_node, found]).code] == ["pool-limit"]
    assert not [*waits(pod, [])]
    assert {"gated", *(code for codes in FAMILIES.values() for code in codes)} == {*CAUSES}


def test_what_runs_waits_for_nothing_any_more() -> None:
    seen = [Observation(1.0, "scheduler", "pod/team-a/x", "no-node", "0/3 nodes")]
    there = Case("pod", {"metadata": {"namespace": "team-a", "name": "x"}, "spec": {}}, True, {}, seen, [])
    assert there.verdict.code == "no-node"
    running = there._replace(thing={**there.thing, "status": {"phase": "Running"}})
    assert (running.verdict.code, running.verdict.sentence) == ("nothing", "Nothing has ended it: it goes on.")
    assert there._replace(there=False).verdict.code == "unknown"
    again = Observation(9.0, "kubelet", "pod/team-a/x", "exited", facts={"exit_code": 1, "container": "run"})
    assert running._replace(seen=[*seen, again]).verdict.code == "exited"


def test_of_a_run_the_newest_attempt_is_told_of() -> None:
    at = "2026-11-28T10:00:00Z"
    hosts = [host("ninth", at, 1, attempt=9), host("tenth", at, 1, attempt=10), host("stopped", at, 0, attempt=10)]
    hosts[-1]["status"]["phase"] = "Succeeded"
    looking = SimpleNamespace(hosts=lambda *_: seen(hosts))
    assert ask._of_work(looking, Target("run", "train"), "team-a") == "tenth"  # type: ignore[arg-type]


def test_a_pod_that_waits_is_no_death() -> None:
    at = "2026-11-28T10:00:00Z"
    waits = host("train-0", at, 1)
    waits["status"] = {
        "phase": "Pending",
        "containerStatuses": [{"name": "run", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "a"}}}],
    }
    assert ended(pods.of_pod(waits)) == 0
    assert ended(pods.of_pod(host("train-0", at, 1))) > 0

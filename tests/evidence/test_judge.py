"""Chains: the first in them is the cause, and what followed is told as that."""

import json

import pytest

from evidence.judge import judge
from evidence.observation import Observation

POD, NODE, RUN, LOAD = "pod/team-a/train-0", "node/gpu-1", "jobset/team-a/train", "workload/team-a/jobset-train"


def seen(at: float, code: str, about: str = POD, **facts: object) -> Observation:
    return Observation(at, "somebody", about, code, "said so", facts=facts)


def exited(at: float, code: int = 143) -> Observation:
    kind = "signalled" if code in (137, 143) else "exited"
    return seen(at, kind, container="run", exit_code=code, **({"signal": code - 128} if code > 128 else {}))


CHAINS = {
    "maintenance with notice": (
        [
            seen(60, "maintenance-due"),
            seen(60, "cordoned", NODE),
            seen(61, "evicted-by-api"),
            seen(61.2, "deleted-by-controller"),
            exited(65),
        ],
        ["maintenance", "cordoned", "evicted-by-api", "deleted-by-controller", "signalled"],
    ),
    "spot notice, drain, SIGTERM": (
        [
            seen(60, "spot-notice", NODE),
            seen(65, "cordoned", NODE),
            seen(70, "evicted-by-person", user="ops"),
            seen(70, "evicted-by-api"),
            exited(100),
        ],
        ["spot-interruption", "cordoned", "drained-by-person", "evicted-by-api", "signalled"],
    ),
    "stopped by a person": (
        [seen(50, "deleted-by-person", RUN, user="bob"), seen(51, "collected"), exited(60)],
        ["deleted-by-person", "collected", "signalled"],
    ),
    "its own failure, and its Job's controller clears away": (
        [exited(50, 1), seen(52, "run-gave-up", RUN), seen(53, "collected")],
        ["exited", "run-gave-up", "collected"],
    ),
    "it takes the word to end for what it is": (
        [seen(50, "deleted-by-person", user="bob"), exited(51, 1)],
        ["deleted-by-person", "exited"],
    ),
    # As a real cluster told it, in whole seconds but for the audit log's.
    "another host's end": (
        [
            seen(16, "peer-failed"),
            exited(17),
            seen(17.4, "deleted-by-job"),
            seen(18, "job-gave-up", "job/team-a/train"),
            seen(18, "run-gave-up", RUN),
        ],
        ["peer-failed", "deleted-by-job", "run-gave-up", "job-gave-up", "signalled"],
    ),
    "others come first in its queue": (
        [seen(50, "queue-preempted", LOAD), seen(51, "suspended", RUN), seen(52, "deleted-by-job"), exited(55)],
        ["queue-preempted", "suspended", "deleted-by-job", "signalled"],
    ),
    "node lost": (
        [seen(50, "node-silent", NODE), seen(350, "taint-manager"), seen(351, "deleted-by-controller", user="x")],
        ["node-silent", "taint-manager", "deleted-by-controller"],
    ),
    "a hang, which a probe finds": (
        [seen(50, "hang"), seen(51, "killed-by-probe", container="run"), exited(52, 137)],
        ["hang", "probe", "signalled"],
    ),
    "a roll": (
        [
            seen(50, "rolling", NODE),
            seen(3600, "evicted-by-person", user="ops"),
            seen(3600, "evicted-by-api"),
            exited(3602),
        ],
        ["rolled", "drained-by-person", "evicted-by-api", "signalled"],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_first_is_the_cause(name: str) -> None:
    evidence, codes = CHAINS[name]
    for given in (evidence, evidence[::-1]):
        found = judge(given)
        assert [found.code, *(one.cause.code for one in found.followed)] == codes
        assert not found.others


def test_what_it_outlived_did_not_end_it() -> None:
    """As a cut of its site's links showed, which the pod sat out."""
    outlived = [seen(10, "node-unready"), seen(10, "node-silent", NODE), seen(20, "liveness")]
    found = judge([*outlived, seen(90, "done"), seen(91, "run-complete", RUN)])
    assert (found.code, found.at) == ("done", 90)


# What is no part of the story: it came too late or too early, or only kept the pod waiting.
APART = {
    "deleted after its end": ([exited(50, 1), seen(90, "deleted-by-person", user="ann")], "exited"),
    "a node that is silent later": ([exited(50, 1), seen(90, "node-silent", NODE)], "exited"),
    "a node that was silent before": ([seen(10, "node-silent", NODE), exited(500, 137)], "signalled"),
    "a roll that had not come to it yet": ([seen(10, "rolling", NODE), exited(500, 1)], "exited"),
    "maintenance that is to come": ([seen(900, "maintenance-due"), exited(65, 1)], "exited"),
    "a cordon long before": ([seen(10, "cordoned", NODE), exited(5000, 1)], "exited"),
    "a volume that came late": ([seen(10, "mount"), exited(500, 1)], "exited"),
    "a deletion an hour before": ([seen(10, "evicted-by-person", user="ops"), exited(4000, 1)], "drained-by-person"),
    "a failed GPU beside a full memory": (
        [seen(10, "gpu-failed", NODE), seen(50, "oom-killed", container="run")],
        "oom-of-container",
    ),
}


@pytest.mark.parametrize("name", APART)
def test_what_is_apart_is_told_as_that(name: str) -> None:
    evidence, code = APART[name]
    found = judge(evidence)
    assert found.code == code
    assert len(found.others) == 1


def test_where_all_may_have_brought_each_other_the_end_is_not_its_own_cause() -> None:
    found = judge([exited(17), seen(17.4, "deleted-by-job"), seen(18, "run-gave-up", RUN)])
    assert [found.code, *(one.cause.code for one in found.followed)] == ["deleted-by-job", "run-gave-up", "signalled"]


def test_an_end_says_by_which_signal() -> None:
    assert judge([exited(1, 139)]).sentence == "Its own program ended with exit code 139 (SIGSEGV), in container run."
    assert judge([exited(1, 2)]).sentence == "Its own program ended with exit code 2, in container run."


def test_an_observation_is_a_line_of_json() -> None:
    one = seen(1795860000.25, "oom-killed", container="run", exit_code=137)
    told = json.loads(one.line())
    assert (told["at"], told["facts"]) == ("2026-11-28T10:00:00.250Z", {"container": "run", "exit_code": 137})
    assert {*told} == {*Observation._fields}


def own(at: float, code: str, **facts: object) -> Observation:
    return Observation(at, "kubelet", "pod/team-a/train-0", code, "", "u", {"container": "run", **facts})


def test_what_a_pod_has_outlived_did_not_end_it() -> None:
    """A container that ended in the morning and was started again; the pod was evicted in the afternoon."""
    morning = own(100.0, "exited", exit_code=1)
    seen = [morning, own(100.0, "exited", exit_code=1, again=True), own(90.0, "killed-by-probe")]
    assert judge(seen).code == "probe", "as long as nothing has ended the pod"
    late = [*seen, own(9000.0, "evicted-by-person", user="ann")]
    assert judge(late).code == "drained-by-person"
    assert judge([morning, own(9000.0, "deleting")]).code == "exited", "it was not started again: that was its end"
    assert judge([*seen, own(130.0, "evicted-by-person", user="ann")]).code == "probe", "within minutes"


def test_who_clears_away_what_has_ended_did_not_end_it() -> None:
    """A run that failed, half a minute before somebody stopped it."""
    by = {"user": "ann", "from": "192.0.2.7", "what": "its run"}
    stopped = [
        Observation(130.0, "audit log", "jobset/team-a/train", "deleted-by-person", "deleted by ann", facts=by),
        own(131.0, "collected", user="system:serviceaccount:kube-system:generic-garbage-collector"),
    ]
    gave_up = Observation(101.0, "JobSet", "jobset/team-a/train", "run-gave-up", "m")
    found = judge([own(100.0, "exited", exit_code=7), gave_up, *stopped])
    assert found.code == "exited"
    assert "run-gave-up" in [one.cause.code for one in found.followed]
    assert judge([own(132.0, "signalled", exit_code=143, signal=15), *stopped]).code == "deleted-by-person"
    assert judge([own(132.0, "done"), *stopped]).code == "deleted-by-person", "it ended with 0 when it was told to"
    assert judge([own(100.0, "done"), *stopped]).code == "done"


def test_a_job_that_was_suspended_and_goes_on_is_no_cause() -> None:
    def job(at: float, code: str) -> Observation:
        return Observation(at, "job controller", "job/team-a/train-0", code)

    end = own(30.0, "deleted-by-job")
    assert judge([job(10.0, "suspended"), end]).code == "suspended"
    assert judge([job(10.0, "suspended"), job(12.0, "resumed"), end]).code == "deleted-by-job"
    assert judge([job(10.0, "resumed"), job(25.0, "suspended"), end]).code == "suspended"


def test_what_came_a_second_after_is_no_cause_where_times_are_precise() -> None:
    """A node that is cordoned just after a pod of it was evicted; the API's own times are whole seconds."""
    by = {"user": "ann", "from": "192.0.2.7"}
    evicted = [
        own(100.0, "evicted-by-api"),
        own(100.4, "evicted-by-person", **by),
        own(101.0, "signalled", exit_code=143),
    ]
    cordoned = [
        Observation(101.0, "API server", "node/gpu-1", "cordoned"),
        Observation(101.6, "audit log", "node/gpu-1", "cordoned", "cordoned by ops", facts={"user": "ops"}),
    ]
    assert judge([*evicted, *cordoned]).code == "drained-by-person"
    earlier = [one._replace(at=one.at - 5) for one in cordoned]
    assert judge([*evicted, *earlier]).code == "cordoned"
    assert judge([*evicted, cordoned[0]]).code == "cordoned", "by whole seconds nobody can tell"

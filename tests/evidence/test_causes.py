"""The table of causes is sound, and each cause is told of a pod that shows nothing else."""

import re

import pytest

from evidence import audit, events, findings, nodes, pods, works
from evidence.aws import machines
from evidence.causes import Cause, causes
from evidence.images import WORDS
from evidence.judge import judge
from evidence.observation import Observation
from fleet import fitness
from landbridge.experiments import manifest

CODES = [one.code for one in causes()]
# What others than pods, nodes, works, events and audit logs show.
FROM_ELSEWHERE = {"peer-failed"}
FROM_ELSEWHERE |= {"pool-misfit", "pool-limit", "pool-refused", "pool-coming"}
SHOWN = {
    *FROM_ELSEWHERE,
    *machines.REASONS.values(),
    *(row.code for row in events.ROWS),
    *pods.WAITING.values(),
    *pods.ENDED.values(),
    *pods.FAILED.values(),
    *pods.DISRUPTED.values(),
    *pods.ENDING.values(),
    pods.ANNOUNCED,
    *(code for _, code in pods.EVICTED),
    *nodes.PRESSURE.values(),
    *nodes.TAINTS.values(),
    *findings.CODES.values(),
    *(code for *_, code in findings.IN_WORDS),
    *(row.code for rows in works.TABLES.values() for row in rows),
    *audit.TRADES.values(),
    *(code for _, code in WORDS),
    *(
        "exited",
        "signalled",
        "init-exited",
        "host-unfit",
        "done",
        "node-full",
        "no-node",
        "gated",
        "queue-waits",
        "cordoned",
        "node-silent",
    ),
    *("deleted-by-person", "evicted-by-person", "deleted-by-controller", "run-restarted"),
}


def test_an_unfit_host_ends_a_run_s_first_container_as_the_fleet_says() -> None:
    assert (pods.RUN, pods.FIRST, pods.UNFIT) == (manifest.RUN, manifest.CODE, fitness.EXIT_CODE)


def test_there_are_thirty_and_more() -> None:
    assert len(CODES) == len(set(CODES)) > 30


@pytest.mark.parametrize("cause", causes(), ids=lambda one: one.code)
def test_what_a_row_names_is_there(cause: Cause) -> None:
    assert cause.brings <= {*CODES}
    assert set(cause.shown_by) <= SHOWN
    for text in (cause.sentence, cause.advice):
        assert not text.endswith(".")
        assert not re.search(r"[^\x20-\x7e]", text)


@pytest.mark.parametrize("cause", causes(), ids=lambda one: one.code)
def test_a_pod_that_shows_one_cause_has_that_one(cause: Cause) -> None:
    facts = {"container": "run", "exit_code": 3, "user": "ann", "from": "192.0.2.7", "image": "a:1", "machine": "i-1"}
    facts |= {"peer": "pod/b", "what": "it", "pci": "0000:44:00", "xid": "79", "meaning": "it is lost"}
    for code in cause.shown_by:
        seen = Observation(100.0, "kubelet", "pod/team-a/train-0", code, "as it was said", facts=facts)
        found = judge([seen])
        assert (found.code, found.at, list(found.evidence)) == (cause.code, 100.0, [seen])
        assert "an unknown" not in found.sentence
        assert found.sentence.endswith(".")
        assert not found.sentence.endswith("..")


def test_what_has_no_row_is_unknown_and_says_who_was_asked() -> None:
    assert judge([]).sentence == "Nothing was seen of it."
    found = judge(
        [Observation(1.0, "kubelet", "pod/a/b", "completed"), Observation(2.0, "Kueue", "workload/a/b", "other")]
    )
    assert (found.code, found.sentence) == ("unknown", "Nobody saw why. Looked at: Kueue, kubelet.")

"""What is kept of an object: enough to ask about it later, and nothing that may be secret."""

import json
from typing import Any

import pytest

from evidence.observation import Observation, read_line
from evidence.record import gone, record, trimmed

POD: dict[str, Any] = {
    "metadata": {
        "name": "train-0",
        "namespace": "team-a",
        "uid": "u1",
        "creationTimestamp": "2026-11-28T10:00:00Z",
        "labels": {"landbridge.dev/run": "train"},
        "annotations": {"note": "hunter2-in-an-annotation"},
        "ownerReferences": [{"kind": "Job", "name": "train", "uid": "u0", "apiVersion": "batch/v1"}],
        "managedFields": [{}],
    },
    "spec": {
        "nodeName": "gpu-1",
        "containers": [
            {
                "name": "run",
                "image": "registry.example.com/a:1",
                "command": ["sh", "-c", "hunter2-in-a-command"],
                "args": ["--password=hunter2"],
                "env": [
                    {"name": "PASSWORD", "value": "hunter2"},
                    {"name": "CHECKPOINT_DIR", "value": "/shares/checkpoints/train"},
                ],
                "resources": {"limits": {"nvidia.com/gpu": "8"}},
            },
            {"name": "valkey", "image": "registry.example.com/b:1"},
        ],
    },
    "status": {"phase": "Failed", "message": "hunter2-in-a-message", "startTime": "2026-11-28T10:00:05Z"},
}


def test_a_pod_keeps_what_answers_need_and_nothing_secret() -> None:
    kept = trimmed(POD, "pod")
    assert "hunter2" not in json.dumps(kept)
    assert kept["metadata"]["ownerReferences"] == [{"kind": "Job", "name": "train"}]
    first, second = kept["spec"]["containers"]
    assert first["resources"] == {"limits": {"nvidia.com/gpu": "8"}}
    assert first["env"] == [{"name": "CHECKPOINT_DIR", "value": "/shares/checkpoints/train"}]
    assert second == {"name": "valkey", "image": "registry.example.com/b:1"}
    assert kept["status"] == {"phase": "Failed", "startTime": "2026-11-28T10:00:05Z"}


def test_a_pod_of_which_nothing_is_known_is_kept_too() -> None:
    assert trimmed({"metadata": {"name": "x", "namespace": "a"}, "spec": {}}, "pod") == {
        "metadata": {"name": "x", "namespace": "a"},
        "spec": {},
        "status": {},
    }


def test_a_run_keeps_how_often_it_may_start_again() -> None:
    run = {
        "metadata": {"name": "train", "namespace": "team-a", "uid": "u2"},
        "spec": {"suspend": False, "failurePolicy": {"maxRestarts": 3}, "replicatedJobs": [{"template": "hunter2"}]},
        "status": {
            "terminalState": "Failed",
            "restartsCountTowardsMax": 3,
            "conditions": [{"type": "Failed", "status": "True", "message": "m"}],
        },
    }
    assert trimmed(run, "jobset")["spec"] == {"suspend": False, "failurePolicy": {"maxRestarts": 3}}
    assert trimmed(run, "jobset")["status"]["conditions"] == [{"type": "Failed", "status": "True"}]


def test_a_line_is_read_as_it_was_written() -> None:
    for one in (record(POD, "pod", 1795860000.5, pool="west-gpu"), gone(POD, "pod", 1795860001.0, "deleted")):
        assert read_line(one.line()) == one
        assert one.about == "pod/team-a/train-0"


@pytest.mark.parametrize("line", ["", "{}", "[]", '{"at": "2026-11-28T10:00:00Z"}', '{"at": 1, "more": 2}'])
def test_what_is_no_observation_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no observation"):
        read_line(line)


def test_words_of_all_languages_pass() -> None:
    one = Observation(1795860000.0, "kubelet", "pod/a/b", "exited", "Fehler: Größe 💥\nline two")
    assert read_line(one.line().encode()) == one
    assert "\n" not in one.line()

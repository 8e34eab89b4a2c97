"""Of which ends the last lines are asked for."""

from typing import Any

from evidence import pods
from kube_http import Kube
from services.recorder.book import Book
from services.recorder.last_lines import LastLines

AT = "2026-11-28T10:00:00Z"


def pod(**status: Any) -> dict[str, Any]:
    meta = {"name": "train-0", "namespace": "team-vision", "uid": "u", "creationTimestamp": AT}
    return {"metadata": meta, "spec": {"containers": [{"name": "run"}]}, "status": {"phase": "Failed", **status}}


def wanted(one: dict[str, Any]) -> list[tuple[str, str]]:
    lines = LastLines(Kube("https://127.0.0.1:1", ""), Book(), lambda _: None)
    lines.of(one, pods.of_pod(one))
    found = [lines.wanted.get_nowait()[1] for _ in range(lines.wanted.qsize())]
    return [(seen.code, str(seen.facts["container"])) for seen in found]


def test_a_container_that_failed_has_something_to_say() -> None:
    state = {"terminated": {"exitCode": 7, "reason": "Error", "startedAt": AT, "finishedAt": AT}}
    container = {"name": "run", "restartCount": 0, "state": state}
    assert wanted(pod(containerStatuses=[container])) == [("exited", "run")]


def test_a_deadline_ends_a_pod_as_a_whole() -> None:
    """One that names no container once ended a thread, and after four of them nobody asked for lines."""
    whole = pod(reason="DeadlineExceeded", message="Pod was active on the node longer than the specified deadline")
    assert "deadline" in [one.code for one in pods.of_pod(whole)]
    assert wanted(whole) == []

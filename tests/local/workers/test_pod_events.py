"""What a local kubelet says of its pods, as events of the API."""

from typing import Any

from kube_http import Answer
from local.workers.pod_events import PodEvents

POD = {"metadata": {"namespace": "team-a", "name": "train-0", "uid": "u1"}}


class Api:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.refuses = False

    def ask(self, method: str, path: str, body: dict[str, Any], kind: str = "") -> dict[str, Any]:
        if self.refuses:
            raise Answer(403, "no")
        self.asked.append((method, path, body))
        return {}


def test_what_is_said_again_is_counted() -> None:
    api = Api()
    told = PodEvents(api, "gpu-1", POD)  # type: ignore[arg-type]
    for _ in range(3):
        told.warn("Unhealthy", "Liveness probe failed: no answer")
    told.say("Normal", "Killing", "Container run failed liveness probe")
    assert [(method, path.rpartition("/")[2]) for method, path, _ in api.asked] == [("POST", "events")] * 2
    event = api.asked[0][2]
    assert (event["reason"], event["count"], event["involvedObject"]["uid"], event["type"]) == (
        "Unhealthy",
        1,
        "u1",
        "Warning",
    )
    for said in told.known.values():
        said.told -= 61
    told.warn("Unhealthy", "Liveness probe failed: no answer")
    method, path, body = api.asked[-1]
    assert (method, path, body["count"]) == (
        "PATCH",
        f"/api/v1/namespaces/team-a/events/{event['metadata']['name']}",
        4,
    )


def test_an_api_that_takes_none_ends_nothing() -> None:
    api = Api()
    api.refuses = True
    PodEvents(api, "gpu-1", POD).warn("FailedMount", "no such share")  # type: ignore[arg-type]
    assert api.asked == []

"""A machine answers a run's pod and says on its Node what is wrong with it: over HTTP, with the pod's own program."""

import http.client
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from fleet import fitness
from services.code import host
from services.maintenance import nodes
from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)

import kernel_rows  # isort: skip
import kube_http  # isort: skip
import node_look  # isort: skip


EARLIER = "2026-11-29T20:00:00Z"


class Api:
    """A Node that keeps conditions."""

    def __init__(self, *conditions: dict[str, Any]) -> None:
        self.conditions = {one["type"]: one for one in conditions}
        self.patched = 0
        self.down = False

    def ask(self, method: str, path: str, body: Any = None, kind: str = "") -> Any:
        if self.down:
            raise kube_http.Answer(503, "no")
        if method == "PATCH":
            assert (path, kind) == ("/api/v1/nodes/gpu-3/status", kube_http.STRATEGIC)
            self.conditions.update({one["type"]: one for one in body["status"]["conditions"]})
            self.patched += 1
        return self.thing()

    def thing(self) -> dict[str, Any]:
        conditions = [*self.conditions.values()]
        return {"metadata": {"name": "gpu-3", "resourceVersion": "1"}, "status": {"conditions": conditions}}

    def unfit(self) -> list[str]:
        """As the maintenance service reads it."""
        return [one.message for one in nodes.read(self.thing()).unfit]


class Fitness:
    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.looked = 0

    def look(self) -> list[str]:
        self.looked += 1
        return [*self.wrong]


@pytest.fixture
def fit() -> Fitness:
    return Fitness()


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def look(fit: Fitness, api: Api, monkeypatch: pytest.MonkeyPatch) -> node_look.Look:
    monkeypatch.setattr(node_look, "FRESH_SECONDS", 0.0)
    return node_look.Look(api, "gpu-3", fit)


@pytest.fixture
def port(look: node_look.Look) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), node_look.handler(look))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_names_are_the_same_on_both_sides() -> None:
    assert (node_look.PORT, node_look.CONDITION) == (fitness.PORT, fitness.CONDITION)
    assert node_look.EACH_SECONDS == fitness.EACH_SECONDS
    assert {*fitness.CONDITIONS} - {fitness.CONDITION} < {*kernel_rows.WELL}, (
        "what follows the kernel's log has the rest"
    )


def test_a_pod_on_a_fit_host_begins_and_its_node_is_not_written(port: int, api: Api) -> None:
    said = list[str]()
    assert host.unfit("127.0.0.1", said.append, port) == ()
    assert said == ["host: fit for work (0.0 seconds)"]
    assert api.patched == 0


def test_a_pod_on_an_unfit_host_hears_why_once_the_node_says_so(port: int, api: Api, fit: Fitness) -> None:
    said = list[str]()
    fit.wrong = ["eth0 is down", "the share at /data does not answer"]
    assert host.unfit("127.0.0.1", said.append, port) == tuple(fit.wrong)
    assert said == ["host: not fit for work: eth0 is down; the share at /data does not answer"]
    assert api.unfit() == ["eth0 is down; the share at /data does not answer"]
    fit.wrong = []
    assert host.unfit("127.0.0.1", said.append, port) == ()
    assert api.unfit() == []
    assert api.patched == 2


def test_pods_that_come_at_once_are_answered_by_one_look(
    port: int, fit: Fitness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_look, "FRESH_SECONDS", 60.0)
    threads = [threading.Thread(target=host.unfit, args=("127.0.0.1", lambda _: None, port)) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert fit.looked == 1


def test_what_an_earlier_start_has_said_is_taken_back(fit: Fitness) -> None:
    api = Api(node_look.condition("eth0 is down", EARLIER))
    look = node_look.Look(api, "gpu-3", fit)
    assert api.unfit() == ["eth0 is down"]
    look.now()
    assert api.unfit() == []


def test_other_words_for_what_is_wrong_are_no_other_maintenance(fit: Fitness) -> None:
    api = Api(node_look.condition("eth0 is down", EARLIER))
    look = node_look.Look(api, "gpu-3", fit)
    for wrong in (["eth0 is down", "eth1 is down"], ["eth1 is down"]):
        fit.wrong, look.at = wrong, float("-inf")
        look.now()
        assert (api.unfit(), api.conditions[fitness.CONDITION]["lastTransitionTime"]) == (["; ".join(wrong)], EARLIER)
    for wrong in ([], ["eth0 is down"]):
        fit.wrong, look.at = wrong, float("-inf")
        look.now()
        assert api.conditions[fitness.CONDITION]["lastTransitionTime"] != EARLIER


def test_without_the_api_the_pod_is_answered_and_the_node_is_told_later(
    look: node_look.Look, api: Api, fit: Fitness
) -> None:
    api.down, fit.wrong = True, ["eth0 is down"]
    assert look.now()["wrong"] == ["eth0 is down"]
    api.down = False
    look.now()
    assert api.unfit() == ["eth0 is down"]


def test_how_soon_it_looks_again(look: node_look.Look, api: Api, fit: Fitness) -> None:
    look.now()
    assert look.pause() == node_look.EACH_SECONDS
    api.down, fit.wrong = True, ["eth0 is down"]
    look.now()
    assert look.pause() == node_look.RETRY_SECONDS, "the API has yet to hear of it"
    api.down = False
    look.now()
    assert look.pause() == node_look.AGAIN_SECONDS


def test_a_host_that_nobody_looks_at_holds_no_run_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "PATIENCE_SECONDS", 0.1)
    said = list[str]()
    assert host.unfit("127.0.0.1", said.append, 9) == ()
    assert said == ["host: nobody has looked at it: ConnectionRefusedError: [Errno 111] Connection refused"]


def test_it_answers_nothing_else(port: int) -> None:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    line.request("GET", "/")
    assert line.getresponse().status == 404
    line.close()

"""What clouds say to a machine becomes what stands on its Node: in the forms that the local clouds give it."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError

import pytest

from fleet import maintenance
from local.supervisor.aws.metadata import announced
from services.maintenance import announcements, nodes
from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)

import kube_http  # isort: skip
import node_notices  # isort: skip
import notices_aws  # isort: skip
import notices_azure  # isort: skip

AT = {"told": 1795960000.0, "at": 1795967200.0, "until": 1795970800.0, "state": "active"}
OWN = "gpu_3"


class Api:
    """A Node that keeps its annotations."""

    def __init__(self) -> None:
        self.annotations: dict[str, str] = {}
        self.calls: list[str] = []
        self.down = False

    def ask(self, method: str, path: str, body: Any = None, kind: str = "") -> Any:
        self.calls.append(method)
        assert path == "/api/v1/nodes/gpu-3"
        if self.down:
            raise kube_http.Answer(503, "no")
        if method == "PATCH":
            assert kind == kube_http.MERGE
            for name, value in body["metadata"]["annotations"].items():
                self.annotations.pop(name, None)
                if value is not None:
                    self.annotations[name] = value
        return {"metadata": {"name": "gpu-3", "resourceVersion": "1", "annotations": dict(self.annotations)}}

    def plans(self) -> list[dict[str, Any]]:
        """As the service understands them."""
        thing = {"metadata": {"name": "gpu-3", "resourceVersion": "1", "annotations": self.annotations}, "spec": {}}
        return [dict(one) for one in announcements.read(nodes.read(thing))]


class Source:
    def __init__(self, *found: dict[str, Any]) -> None:
        self.found, self.told = [*found], list[str]()

    def announced(self) -> list[dict[str, Any]]:
        return self.found

    def ready(self, id_: str) -> None:
        self.told.append(id_)


def on_aws(monkeypatch: pytest.MonkeyPatch, *told: dict[str, Any]) -> list[dict[str, Any]]:
    """By the local AWS's metadata."""
    tree = announced([*told])

    def metadata(path: str) -> str:
        if (found := tree.get(f"meta-data/{path}")) is None:
            raise HTTPError(path, 404, "Not Found", {}, None)  # type: ignore[arg-type]
        return str(found)

    monkeypatch.setattr(notices_aws, "metadata", metadata)
    found: list[dict[str, Any]] = notices_aws.announced()
    return found


def event(kind: str, name: str = OWN, **more: Any) -> dict[str, Any]:
    about = {"EventId": "F1", "EventType": kind, "Resources": [name], "EventSource": "Platform"}
    return {**about, "NotBefore": "Mon, 30 Nov 2026 06:22:58 GMT", "DurationInSeconds": 300, **more}


@pytest.mark.parametrize(
    ("code", "source"),
    [
        ("system-reboot", "ec2-event"),
        ("instance-reboot", "ec2-event"),
        ("system-maintenance", "ec2-event"),
        ("instance-retirement", "ec2-retirement"),
        ("instance-stop", "ec2-retirement"),
        ("spot", "ec2-spot"),
        ("rebalance", "ec2-rebalance"),
    ],
)
def test_each_of_ec2_s_is_a_source_of_plans(code: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = on_aws(monkeypatch, {"id": "e-1", "code": code, **AT})
    assert found["source"] == source
    assert source in maintenance.SOURCES
    starts = AT["told"] if code == "rebalance" else AT["at"]
    assert maintenance.seconds(found["start"]) == starts


def test_of_a_machine_of_which_nothing_is_announced_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_aws(monkeypatch) == []
    cancelled = {**AT, "state": "canceled"}
    assert on_aws(monkeypatch, {"id": "e-1", "code": "system-reboot", **cancelled}) == []


@pytest.mark.parametrize("kind", notices_azure.SOURCES)
def test_each_of_azure_s_is_a_source_of_plans_and_others_of_the_set_are_not(kind: str) -> None:
    now = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
    (found,) = notices_azure.mine([event(kind), event(kind, "gpu_4")], OWN, now)
    assert found["source"] in maintenance.SOURCES
    assert (found["id"], found["start"], found["end"]) == ("F1", "2026-11-30T06:22:58Z", "2026-11-30T06:27:58Z")
    assert maintenance.SOURCES[found["source"]].drains == (kind != "Freeze")
    (begun,) = notices_azure.mine([event(kind, NotBefore="", DurationInSeconds=-1)], OWN, now)
    assert (begun["start"], begun["end"]) == ("", "")


def test_it_is_laid_on_the_node_once_and_taken_away() -> None:
    api, source = Api(), Source({"id": "e-1", "source": "ec2-event", "why": "w", "start": "", "end": ""})
    unit = node_notices.Notices(api, "gpu-3", source)
    unit.step()
    assert [one["id"] for one in api.plans()] == ["e-1"]
    unit.step()
    assert api.calls.count("PATCH") == 1
    source.found = []
    unit.step()
    assert api.annotations == {}
    before = len(api.calls)
    unit.step()
    assert len(api.calls) == before, "who has nothing to say asks nothing"


def test_what_an_earlier_start_has_laid_there_is_taken_away() -> None:
    api = Api()
    api.annotations[maintenance.ANNOUNCED] = "[]"
    node_notices.Notices(api, "gpu-3", Source()).step()
    assert api.annotations == {}


def test_a_cloud_that_waits_is_told_once_when_the_machine_is_empty() -> None:
    api, source = Api(), Source({"id": "F1", "source": "azure-event", "why": "w", "start": "", "end": ""})
    unit = node_notices.Notices(api, "gpu-3", source)
    for phase, told in (("told", []), ("draining", []), ("drained", ["F1"]), ("drained", ["F1"])):
        entry = {"event": "F1", "phase": phase}
        api.annotations[maintenance.ANNOTATION] = json.dumps([{"event": "other", "phase": "drained"}, entry])
        unit.step()
        assert source.told == told


def test_the_script_and_the_service_mean_the_same() -> None:
    assert (node_notices.ANNOUNCED, node_notices.PLANNED) == (maintenance.ANNOUNCED, maintenance.ANNOTATION)
    assert node_notices.EMPTY in maintenance.PHASES

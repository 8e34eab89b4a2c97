"""`landbridge autoscaler status`: what the autoscaler wrote, for people and for machines."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from fleet.world import current
from landbridge.autoscaler import status
from landbridge.commands import landbridge, options
from landbridge.commands.autoscaler import show
from landbridge.errors import LandbridgeError
from landbridge.output import output

ROOT = Path(__file__).parents[3]
NOW = datetime(2026, 11, 22, 13, 40, 30, tzinfo=UTC)
# As release 1.33.0 wrote it.
WRITTEN = """\
time: 2026-11-22 13:40:18.16778776 +0000 UTC
autoscalerStatus: Running
clusterWide:
  health:
    status: Healthy
nodeGroups:
- name: example-west-gpu-a
  health:
    status: Healthy
    nodeCounts:
      registered:
        total: 40
        ready: 38
    cloudProviderTarget: 40
    minSize: 0
    maxSize: 40
  scaleUp:
    status: Backoff
    backoffInfo:
      errorCode: capacity
      errorMessage: We currently do not have sufficient p5.48xlarge capacity
  scaleDown:
    status: NoCandidates
- name: example-east-gpu-a
  health:
    status: Healthy
    cloudProviderTarget: 12
    minSize: 0
    maxSize: 60
  scaleUp:
    status: InProgress
  scaleDown:
    status: CandidatesPresent
    candidates: 2
"""


class Kube:
    def __init__(self, **objects: Any) -> None:
        self.objects = objects

    def find(self, kind: str, name: str, *_: str) -> Any:
        return self.objects.get(name.replace("-", "_"))


def cluster(text: str | None = WRITTEN, **more: Any) -> Kube:
    lease = {"spec": {"holderIdentity": "cluster-autoscaler-0"}}
    written = {"cluster_autoscaler_status": {"data": {"status": text}}} if text else {}
    return Kube(**written, cluster_autoscaler=lease, **more)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    def call(kube: Kube, *words: str) -> tuple[int, str]:
        session = SimpleNamespace(admin=kube, info=SimpleNamespace(name="main"), world=current(ROOT / "fleet.yaml"))
        monkeypatch.setattr(options, "the_cluster", lambda *_, **__: session)
        monkeypatch.setattr("landbridge.commands.autoscaler.datetime", SimpleNamespace(now=lambda _: NOW))
        result = CliRunner().invoke(
            landbridge, ["autoscaler", "status", *words], catch_exceptions=False, standalone_mode=False
        )
        return result.return_value, result.stdout

    return call


def test_groups_stand_in_the_fleet_file_s_order_with_what_they_wait_for(run: Any) -> None:
    code, text = run(cluster(), "--json")
    told = json.loads(text)
    assert code == 0
    west, east = told["groups"]
    assert (west["pool"], west["target"], west["ready"], west["room"]) == ("west-gpu", 40, 38, 40)
    assert west["waits"].startswith("capacity: We currently do not have sufficient")
    assert (east["growth"], east["may_go"], east["ready"]) == ("machines are coming", 2, 0)
    assert (told["leader"], told["written"]) == ("cluster-autoscaler-0", "2026-11-22T13:40:18+00:00")


def test_people_see_a_table(run: Any) -> None:
    _, text = run(cluster(landbridge_freeze={"data": {"why": "etcd was restored", "since": "now"}}))
    text = " ".join(text.split())
    assert "waits: capacity: We currently" in text
    assert "machines are coming, 2 may go" in text
    assert "Frozen since now: etcd was restored" in text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "has written no status yet"),
        (WRITTEN.replace("13:40:18", "13:30:18"), "written nothing for 10 minutes"),
        (WRITTEN.replace("status: Healthy", "status: Unhealthy", 1), "for unhealthy, and buys nothing"),
        (WRITTEN.replace("Running", "Initializing"), "that it is Initializing"),
    ],
)
def test_an_autoscaler_in_trouble_is_an_exit_code(run: Any, text: str | None, why: str) -> None:
    code, said = run(cluster(text))
    assert code == 1
    assert why in " ".join(said.split())


def test_a_dry_run_says_that_it_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    fleet = current(ROOT / "fleet.yaml").fleet
    main = fleet.clusters["main"].model_copy(update={"autoscaler_dry_run": True})
    fleet = fleet.model_copy(update={"clusters": {"main": main}})
    found = status.look(cluster(), fleet, "main", NOW)  # type: ignore[arg-type]
    assert found.as_json()["dry_run"] is True
    show(found, output(as_json=False))
    assert "A dry run: what is wanted is what it would ask for." in capsys.readouterr().out


def test_the_time_is_read_as_go_writes_it() -> None:
    assert status.written("2026-11-22 13:40:18.1 +0000 UTC") == datetime(2026, 11, 22, 13, 40, 18, tzinfo=UTC)


def test_a_cluster_without_an_autoscaler_says_so() -> None:
    fleet = current(ROOT / "fleet.yaml").fleet
    with pytest.raises(LandbridgeError, match="Cluster other has no autoscaler: it has no pools of kind gpu or cpu"):
        status.look(cluster(), fleet, "other", NOW)  # type: ignore[arg-type]

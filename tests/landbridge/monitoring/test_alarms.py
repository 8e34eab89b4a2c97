"""Alarms as the real Prometheus tells them, in a terminal."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

from components.addons.monitoring import prometheus
from components.addons.system_pods import REPLICAS
from fleet.monitoring_model import Monitoring, OwnAlarm
from landbridge.cluster.kube import Kube, KubeError
from landbridge.commands.alarms import table
from landbridge.errors import LandbridgeError
from landbridge.monitoring import alarms
from landbridge.remote_execution import CommandResult
from local.kubernetes import BIN
from tests.support.apiserver import HERE, free_port
from tests.support.prometheus import ready, running
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[3]
RULES = """\
groups:
  - name: test
    rules:
      - {alert: Watchdog, expr: vector(1), labels: {severity: none, owner: operators}}
      - {alert: DiskFull, expr: 'label_replace(vector(1), "node", "gpu-1", "", "")', labels: {severity: ticket, owner: operators}}
      - {alert: ApiDown, expr: vector(1), labels: {severity: page, owner: operators}}
      - {alert: NotYet, expr: vector(1), for: 1h, labels: {severity: page, owner: operators}}
"""
CONFIG = """\
global:
  evaluation_interval: 1s
  external_labels: {fleet: test, cluster: main, replica: prometheus-0}
rule_files: [FOLDER/rules.yaml]
"""


class Inside(Kube):
    """kubectl exec, of a pod whose port is another one here. `away` are pods that do not answer."""

    port = 0
    away: ClassVar[dict[str, str]] = {}

    def done(self, *words: str, **_: Any) -> str:
        assert words[0] == "exec"
        if said := self.away.get(words[1]):
            raise KubeError(said, CommandResult(1, "", said))
        program, *rest = words[words.index("--") + 1 :]
        assert program == "/bin/promtool"
        found = [word.replace("127.0.0.1:9090", f"{HERE}:{self.port}") for word in rest]
        return subprocess.run([BIN / "promtool", *found], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    folder, port = tmp_path_factory.mktemp("prometheus"), free_port()
    (folder / "rules.yaml").write_text(RULES)
    (folder / "prometheus.yaml").write_text(CONFIG.replace("FOLDER", str(folder)))
    words = [f"--config.file={folder}/prometheus.yaml", f"--storage.tsdb.path={folder}/data"]
    with running("prometheus", folder / "log", *words, f"--web.listen-address={HERE}:{port}"):
        ready(port)
        made = Inside("")
        Inside.port = port
        yield made


@pytest.fixture(autouse=True)
def _all_answer() -> Iterator[None]:
    yield
    Inside.away = {}


def test_the_worst_come_first_with_what_they_are_about(kube: Inside) -> None:
    found = eventually(lambda: told if len(told := alarms.on(kube)) == 2 else None, 30)
    assert [(one.name, one.severity, one.about) for one in found] == [
        ("ApiDown", "page", {}),
        ("DiskFull", "ticket", {"node": "gpu-1"}),
    ]
    assert found[0].as_json()["since"].endswith("Z")


def test_either_of_the_two_is_asked(kube: Inside) -> None:
    eventually(lambda: alarms.on(kube), 30)
    Inside.away = {"prometheus-0": "error: unable to upgrade connection"}
    assert alarms.on(kube)
    Inside.away["prometheus-1"] = "error: unable to upgrade connection"
    with pytest.raises(LandbridgeError, match="Prometheus does not answer: error: unable"):
        alarms.on(kube)


def test_a_cluster_without_any_is_told_what_to_write(kube: Inside) -> None:
    Inside.away = dict.fromkeys(alarms.REPLICAS, 'Error from server (NotFound): pods "prometheus-0" not found')
    with pytest.raises(LandbridgeError, match=r"no monitoring\. Give the fleet file an entry `monitoring: \{\}`"):
        alarms.on(kube)


def test_the_two_are_those_of_the_add_on() -> None:
    assert tuple(f"{prometheus.ADDON}-{number}" for number in range(REPLICAS)) == alarms.REPLICAS


def test_nobody_is_asked_twice_who_may_not_ask(kube: Inside) -> None:
    Inside.away = {"prometheus-0": "Error from server (Forbidden): pods is forbidden"}
    with pytest.raises(KubeError, match="forbidden"):
        alarms.on(kube)


def test_each_alarm_has_its_page_and_the_fleet_s_own_what_it_says() -> None:
    own = OwnAlarm(when="up == 0", says="It is away.", runbook="https://example.com/away")
    found = alarms.runbooks(Monitoring(alarms={"Away": own, "Silent": own.model_copy(update={"runbook": None})}))
    assert found["Away"] == "https://example.com/away"
    assert "Silent" not in found
    assert (ROOT / found["GPUXid"]).is_file()
    assert alarms.runbooks(None).keys() == found.keys() - {"Away"}


def test_the_table_names_the_page() -> None:
    one = alarms.Alarm("GPUXid", "ticket", "operators", datetime(2026, 1, 1, tzinfo=UTC), {"node": "gpu-1"})
    made = table([one], alarms.runbooks(None), datetime(2026, 1, 1, 3, tzinfo=UTC))
    row = [str(next(iter(column.cells))) for column in made.columns]
    assert row == ["GPUXid", "ticket", "3 h", "operators", "node gpu-1", "docs/runbooks/gpu-failed.md"]

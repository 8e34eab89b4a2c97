"""What GPUs do and how links are, as the real Prometheus reckons by its add-on's rules: of 1,600 GPUs, at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.addons.monitoring import prometheus
from landbridge.dashboard.ask import measured
from landbridge.dashboard.snapshot import Link
from tests.landbridge.monitoring.test_alarms import Inside
from tests.support.apiserver import HERE, free_port
from tests.support.prometheus import answering, ready, running
from tests.support.waiting import eventually

NODES, GPUS = 200, 8
UP = {1: 1.0, 2: 0.5}
# By two names it is two: as while one pod takes over from another.
CONFIG = """\
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [FOLDER/usage.yaml, FOLDER/ours.yaml]
scrape_configs:
  - {job_name: gpu-exporter, static_configs: [{targets: ["127.0.0.1:PORT"]}]}
  - {job_name: fleet-metrics, static_configs: [{targets: ["127.0.0.1:PORT", "localhost:PORT"]}]}
"""
OURS = """\
groups:
  - name: ours
    rules: [{alert: ApiDown, expr: vector(1), labels: {severity: page, owner: operators}}]
"""


def lines() -> Iterator[str]:
    for node in range(NODES):
        for gpu in range(GPUS):
            yield f'DCGM_FI_PROF_SM_ACTIVE{{node="host-{node}",gpu="{gpu}"}} {gpu / GPUS:g}\n'
    for number, up in UP.items():
        about = f'link="lab/us-west-2",connection="us-west-2-lab-{number}",place="lab",region="us-west-2"'
        yield f"landbridge_tunnels_up{{{about}}} {up:g}\n"


@pytest.fixture
def kube(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inside]:
    port = free_port()
    with answering("".join(lines())) as told:
        config = CONFIG.replace("FOLDER", str(tmp_path)).replace("PORT", str(told.port))
        files = {"prometheus.yaml": config, "usage.yaml": prometheus.rules()["usage.yaml"], "ours.yaml": OURS}
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        words = [f"--config.file={tmp_path}/prometheus.yaml", f"--storage.tsdb.path={tmp_path}/data"]
        with running("prometheus", tmp_path / "log", *words, f"--web.listen-address={HERE}:{port}"):
            ready(port)
            monkeypatch.setattr(Inside, "port", port)
            yield Inside("")


def test_each_gpu_s_share_and_each_connection_s_are_told_once(kube: Inside) -> None:
    on, activity, links = eventually(lambda: told if all(map(len, told := measured(kube))) else None, 60)
    assert [one.name for one in on] == ["ApiDown"]
    assert activity == {f"host-{node}": {str(gpu): gpu / GPUS for gpu in range(GPUS)} for node in range(NODES)}
    assert links == [Link("lab/us-west-2", f"us-west-2-lab-{number}", "lab", UP[number]) for number in (2, 1)]

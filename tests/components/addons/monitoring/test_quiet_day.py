"""The day of quiet that whole clouds are asked about: it sees what lasts, and what stands still."""

from pathlib import Path

import pytest

from tests.support import quiet_day

NOW, SECONDS = 1_800_000_000.0, 120.0
READY = 'kube_node_status_condition{condition="Ready",job="kube-state-metrics",node="a",status="true"}'
LABELS = 'kube_node_labels{job="kube-state-metrics",label_landbridge_dev_place="lab",node="a"}'
WRITTEN = 'landbridge_recorder_written_until_seconds{job="recorder"}'
ERRORS = 'cluster_autoscaler_errors_total{job="cluster-autoscaler",type="cloud"}'
AFTER = {READY: 1.0, LABELS: 1.0, WRITTEN: NOW - 10, ERRORS: 7.0}
BEFORE = {**AFTER, WRITTEN: NOW - 10 - SECONDS}


def fired(folder: Path, after: dict[str, float], before: dict[str, float]) -> set[str]:
    folder.mkdir()
    return quiet_day.fired(folder, NOW, SECONDS, after, before)


@pytest.mark.parametrize(
    ("alarm", "after", "before"),
    [
        ("NodeNotReady", {READY: 0.0}, {READY: 0.0}),
        ("RecorderBlind", {}, {WRITTEN: NOW - 10}),
        # 11 in half an hour.
        ("AutoscalerErrors", {}, {ERRORS: 7.0 - 11 / 15}),
    ],
)
def test_what_is_wrong_for_long_is_told(
    tmp_path: Path, alarm: str, after: dict[str, float], before: dict[str, float]
) -> None:
    quiet = fired(tmp_path / "quiet", AFTER, BEFORE)
    assert "APIDown" in quiet, "nobody is there"
    assert fired(tmp_path / "not", AFTER | after, BEFORE | before) - quiet == {alarm}


def test_all_that_rules_ask_for_is_asked_for() -> None:
    found = set(quiet_day.metrics())
    assert {
        "up",
        "kube_node_labels",
        "node_filesystem_avail_bytes",
        "landbridge_recorder_written_until_seconds",
    } <= found
    assert not [name for name in found if name in {"node_ready", "gpus_held", "absent", "histogram_quantile"}]

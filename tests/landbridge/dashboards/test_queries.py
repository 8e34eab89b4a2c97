"""Each query is one that Prometheus takes, and asks for what is measured."""

import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from ruamel.yaml import YAML

import services.autoscaler.metrics
import services.recorder.metrics  # noqa: F401
from components.addons.monitoring import control_plane, gpu_metrics, node_metrics, prometheus, state_metrics, targets
from components.pools import labels
from landbridge.dashboards import board
from tests.landbridge.dashboards.queries import ASKED, Asked, filled, metrics, promtool

# Who measures it → upstream's names.
UPSTREAM = {
    "prometheus": {"up", "ALERTS", "ALERTS_FOR_STATE"},
    "apiserver": {
        "apiserver_admission_webhook_rejection_count",
        "apiserver_current_inflight_requests",
        "apiserver_flowcontrol_rejected_requests_total",
        "apiserver_request_sli_duration_seconds_bucket",
        "apiserver_request_sli_duration_seconds_count",
        "apiserver_request_sli_duration_seconds_sum",
        "apiserver_request_total",
        "apiserver_resource_objects",
        "etcd_request_duration_seconds_bucket",
        "etcd_request_duration_seconds_count",
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
    },
    "etcd": {
        "etcd_disk_wal_fsync_duration_seconds_bucket",
        "etcd_mvcc_db_total_size_in_bytes",
        "etcd_server_leader_changes_seen_total",
        "etcd_server_quota_backend_bytes",
    },
    "scheduler": {"scheduler_pending_pods", "scheduler_schedule_attempts_total"},
    "kube-state-metrics": {
        "kube_node_labels",
        "kube_node_spec_unschedulable",
        "kube_node_status_allocatable",
        "kube_node_status_capacity",
        "kube_pod_container_status_waiting_reason",
        "kube_pod_labels",
        "kube_pod_status_phase",
        "kube_pod_status_unschedulable",
    },
    "node-exporter": {"node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes"},
    "cluster-autoscaler": {
        "cluster_autoscaler_errors_total",
        "cluster_autoscaler_last_activity",
        "cluster_autoscaler_node_group_backoff_status",
        "cluster_autoscaler_nodes_count",
    },
    "kueue": {
        "kueue_admission_attempts_total",
        "kueue_evicted_workloads_total",
        "kueue_pending_workloads",
        "kueue_reserving_active_workloads",
    },
}
CHOSEN_ONES = '{cluster=~"$cluster"'
each = pytest.mark.parametrize("asked", ASKED, ids=[one.where for one in ASKED])


def recorded() -> set[str]:
    groups = [group for text in prometheus.rules().values() for group in YAML(typ="safe").load(text)["groups"]]
    return {rule["record"] for group in groups for rule in group["rules"] if "record" in rule}


def of_services() -> set[str]:
    counted = {f"{metric.name}_total" for metric in REGISTRY.collect() if metric.type == "counter"}
    return {name for name in counted | {one.name for one in REGISTRY.collect()} if name.startswith("landbridge_")}


KNOWN = set.union(*UPSTREAM.values(), {*gpu_metrics.FIELDS}, recorded(), of_services())


def test_prometheus_takes_them(tmp_path: Path) -> None:
    rules = [{"record": f"asked:{number}", "expr": filled(one.text)} for number, one in enumerate(ASKED)]
    assert not re.search(r"\$\w+", "".join(rule["expr"] for rule in rules))
    document = {"groups": [{"name": "dashboards", "rules": rules}]}
    assert promtool(tmp_path, ("check", "rules", "--lint=none"), document) == ""


@each
def test_what_they_ask_for_is_measured(asked: Asked) -> None:
    found = metrics(asked.text)
    assert found
    assert found <= KNOWN


@each
def test_they_ask_of_the_chosen_clusters_alone(asked: Asked) -> None:
    if asked.where.endswith("/$cluster"):
        return
    for name in metrics(asked.text):
        after = re.findall(rf"(?<![\w:]){name}\b(?!:)(.{{{len(CHOSEN_ONES)}}})", asked.text)
        assert {*after} == {CHOSEN_ONES}, name


@each
def test_they_ask_of_jobs_that_there_are(asked: Asked) -> None:
    jobs = {"apiserver", "etcd", *control_plane.KEPT, *(one.job for one in targets.PODS)}
    named = {one for part in re.findall(r'\bjob=~?"([^"]+)"', asked.text) for one in part.split("|")}
    assert named <= jobs


def test_of_api_servers_they_ask_for_what_is_kept() -> None:
    kept = re.compile("|".join(control_plane.KEPT_OF_API_SERVERS))
    assert {name for name in UPSTREAM["apiserver"] if not kept.fullmatch(name)} == set()
    others = {"etcd": control_plane.KEPT_OF_ETCD, "scheduler": control_plane.KEPT["scheduler"]}
    for job, names in others.items():
        assert {name for name in UPSTREAM[job] if not re.fullmatch("|".join(names), name)} == set()
    parts = {
        (metric, le)
        for one in ASKED
        for metric, inside in re.findall(r"(\w+_bucket)\{([^}]*)\}", one.text)
        for le in re.findall(r'le=~"([^"(]+)', inside)
    }
    assert parts == {
        ("apiserver_request_sli_duration_seconds_bucket", "1"),
        ("etcd_request_duration_seconds_bucket", "0.1"),
    }
    for metric, le in parts:
        for names, dropped in control_plane.DROPPED:
            if names == ("__name__", "le"):
                assert not re.fullmatch(dropped, f"{metric};{le}")


def test_exporters_are_told_to_measure_that() -> None:
    kinds = {kind for found in state_metrics.WATCHED.values() for kind in found}
    assert {f"{name.split('_')[1]}s" for name in UPSTREAM["kube-state-metrics"]} <= kinds
    assert "meminfo" in node_metrics.COLLECTORS
    labelled = {f"label_{re.sub(r'[^a-z0-9]', '_', one)}" for one in state_metrics.OF_NODES}
    assert {board.PLACE_LABEL, board.POOL_LABEL} <= labelled
    (run,) = state_metrics.OF_PODS
    asked = "".join(one.text for one in ASKED)
    assert {*re.findall(r"\blabel_\w+", asked)} == {
        board.PLACE_LABEL,
        board.POOL_LABEL,
        f"label_{re.sub(r'[./]', '_', run)}",
    }
    assert {*re.findall(r'resource="([^"]+)"', asked)} == {re.sub(r"[./]", "_", labels.GPU_RESOURCE)}


def test_upstream_s_names_are_used() -> None:
    assert set.union(*UPSTREAM.values()) <= {name for one in ASKED for name in metrics(one.text)}

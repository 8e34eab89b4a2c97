"""Prometheus: two that each ask everybody, and the rules by which they see what is wrong.

What one has not seen while it moved, the other one has. Both tell of the same alarms, which Alertmanager takes for one.
They read a changed configuration by themselves: a pod that is replaced begins with an empty disk.
"""

from pathlib import Path

from fleet.monitoring import REMOTE_WRITE, SPACE, TOKEN
from fleet.monitoring_model import Monitoring

from ..images import PROMETHEUS
from ..manifests import (
    MANAGED,
    NAME,
    Manifest,
    budget,
    chosen,
    compact,
    config_map,
    container,
    get,
    headless,
    meta,
    rights,
    role,
    rule,
    stateful_set,
)
from ..spec import AddOnsSpec
from ..system_pods import NARROW, POD_NAME, REPLICAS, system_pod
from . import alertmanager, own_alarms, sizes, targets

ADDON = "prometheus"
PORT, DATA, CONFIG, RULES = 9090, "/prometheus", "/etc/landbridge/prometheus", "/etc/landbridge/rules"
REMOTE = "/etc/landbridge/remote-write"
FILE, RULES_MAP = "prometheus.yaml", "prometheus-rules"
OUR_RULES = Path(__file__).parent / "rules"
RELOAD_SECONDS = 30
# Of the disk: what is being written and merged comes on top of what is kept.
KEPT_SHARE = 0.8
# Of 75, which it has by itself: 13 % less memory for 4 % more CPU, with 40,000 series.
GARBAGE_PERCENT = 40
# By the cluster's size.
CORES = {"small": "50m", "medium": "500m", "large": "2"}
# What a site has kept for a day it brings when it is back, and what an hour of sending takes.
KEPT_HOURS, LATE_HOURS = 24, 25
# Tells the two apart; an alarm does not say it, or it would be two.
REPLICA = "replica"


def wanted(spec: AddOnsSpec) -> bool:
    return spec.fleet.monitoring is not None


def kept_at(spec: AddOnsSpec) -> tuple[str, ...]:
    """Sites that ask their own nodes, and keep what these say while nobody takes it: site_metrics.py."""
    return spec.sites if spec.fleet.monitoring and spec.fleet.monitoring.keep_at_sites else ()


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    pods = chosen(ADDON, ADDON)
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE, "labels": {**MANAGED, NAME: ADDON}}},
        _from_within(),
        *rights(ADDON, ADDON, [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}], space=SPACE),
        *(one for space in targets.SPACES for one in _finding(space)),
        config_map(ADDON, ADDON, {FILE: compact(config(spec))}, SPACE),
        config_map(RULES_MAP, ADDON, {**rules(), **own_alarms.file(_monitoring(spec))}, SPACE),
        headless(ADDON, ADDON, {"web": PORT}, SPACE),
        stateful_set(ADDON, ADDON, REPLICAS, _pod(spec), space=SPACE),
        budget(ADDON, ADDON, pods, SPACE),
    ]


def rules() -> dict[str, str]:
    """Of each topic, by the name of its file."""
    return {file.name: file.read_text() for file in sorted(OUR_RULES.glob("*.yaml"))}


def config(spec: AddOnsSpec) -> Manifest:
    """prometheus.yaml: Prometheus' documentation, "Configuration"."""
    given = _monitoring(spec)
    fleet = {"fleet": spec.fleet.fleet, "cluster": spec.cluster.name}
    found = {
        "global": {
            "scrape_interval": f"{targets.SECONDS}s",
            "evaluation_interval": f"{targets.SECONDS}s",
            "external_labels": {**fleet, REPLICA: f"${{{POD_NAME['name']}}}"},
        },
        "runtime": {"gogc": GARBAGE_PERCENT},
        "rule_files": [f"{RULES}/*.yaml"],
        "scrape_configs": targets.scrape_configs(spec.cluster, kept_at(spec)),
    }
    if kept_at(spec):
        found["storage"] = {"tsdb": {"out_of_order_time_window": f"{LATE_HOURS}h"}}
    if given.receivers:
        them = targets.those(alertmanager.ADDON, targets.METRICS)
        found["alerting"] = {
            "alert_relabel_configs": [{"regex": REPLICA, "action": "labeldrop"}],
            "alertmanagers": [{"kubernetes_sd_configs": [targets.found_in(SPACE)], "relabel_configs": them}],
        }
    if to := given.remote_write:
        may = {"authorization": {"credentials_file": f"{REMOTE}/{TOKEN}"}} if to.token else {}
        found["remote_write"] = [{"url": to.url, **may}]
    return found


def _monitoring(spec: AddOnsSpec) -> Monitoring:
    return spec.fleet.monitoring or Monitoring()


def _from_within() -> Manifest:
    """Who asks Prometheus knows of all teams. People come by their node, where no policy is asked."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta("from-within", ADDON, SPACE),
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}]}]},
    }


def _finding(space: str) -> list[Manifest]:
    """Its right to find pods there."""
    subject = {"kind": "ServiceAccount", "name": ADDON, "namespace": SPACE}
    return role("Role", ADDON, ADDON, space, [rule("", ["pods"], "get", "list", "watch")], subject)


def _pod(spec: AddOnsSpec) -> Manifest:
    given = _monitoring(spec)
    return system_pod(
        ADDON,
        # What it has in memory is written first.
        terminationGracePeriodSeconds=120,
        containers=[_container(spec, given)],
        volumes=[
            {"name": "config", "configMap": {"name": ADDON}},
            {"name": "rules", "configMap": {"name": RULES_MAP}},
            # It is there whether anything is sent or not: a changed configuration replaces no pod.
            {"name": "remote-write", "secret": {"secretName": REMOTE_WRITE, "optional": True}},
            {"name": "data", "emptyDir": {"sizeLimit": f"{given.disk_gib}Gi"}},
        ],
    )


def _container(spec: AddOnsSpec, given: Monitoring) -> Manifest:
    return container(
        ADDON,
        PROMETHEUS,
        CORES[spec.fleet.clusters[spec.cluster.name].size],
        sizes.memory(sizes.PROMETHEUS, sizes.nodes(spec)),
        command=["/bin/prometheus"],
        args=[
            f"--config.file={CONFIG}/{FILE}",
            f"--storage.tsdb.path={DATA}",
            f"--storage.tsdb.retention.time={given.keep_days}d",
            f"--storage.tsdb.retention.size={round(given.disk_gib * KEPT_SHARE * 1024)}MB",
            f"--web.listen-address=:{PORT}",
            "--enable-feature=auto-reload-config",
            f"--config.auto-reload-interval={RELOAD_SECONDS}s",
            # Who may come is within the namespace: see _from_within.
            *(["--web.enable-remote-write-receiver"] if kept_at(spec) else []),
        ],
        env=[POD_NAME],
        ports=[{"name": targets.METRICS, "containerPort": PORT}],
        startupProbe=get(PORT, "/-/ready", "", periodSeconds=2, failureThreshold=300),
        readinessProbe=get(PORT, "/-/ready", "", periodSeconds=10),
        livenessProbe=get(PORT, "/-/healthy", "", periodSeconds=10, timeoutSeconds=5, failureThreshold=6),
        securityContext=NARROW,
        volumeMounts=[
            {"name": "config", "mountPath": CONFIG, "readOnly": True},
            {"name": "rules", "mountPath": RULES, "readOnly": True},
            {"name": "remote-write", "mountPath": REMOTE, "readOnly": True},
            {"name": "data", "mountPath": DATA},
        ],
    )

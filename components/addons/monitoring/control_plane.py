"""Machines of the control plane, each of them at its planned address: what Prometheus asks there, and what it keeps."""

from typing import Any

from components.control_plane import etcd_metrics, machine_metrics
from components.control_plane.etcd import RINGS
from components.control_plane.firewall import METRICS_PORTS
from components.control_plane.machines import API_PORT, ClusterSpec, Machine

from ..system_pods import TOKEN

Json = dict[str, Any]
API = "kubernetes.default.svc"
ETCD, ETCD_SECONDS = "etcd", 60
# Of what is no node, and has no node_exporter.
MACHINES = "machines"
KEPT_OF_MACHINES = ("node_(filesystem|memory|timex)_.+", "node_load1")
# Of whatever program.
PROCESS = "process_(cpu_seconds_total|resident_memory_bytes|start_time_seconds)"
# A series each for every verb, resource and size of answer: most of what an API server tells, and no alarm's.
KEPT_OF_API_SERVERS = (
    "apiserver_request_total",
    "apiserver_request_terminations_total",
    "apiserver_request_sli_duration_seconds_(bucket|sum|count)",
    "apiserver_current_inflight_requests",
    "apiserver_client_certificate_expiration_seconds_(bucket|count)",
    "apiserver_(resource_objects|storage_size_bytes)",
    "apiserver_admission_webhook_(rejection_count|fail_open_count)",
    "apiserver_audit_(error|event)_total",
    "apiserver_flowcontrol_rejected_requests_total",
    "aggregator_unavailable_apiservice",
    "etcd_request_duration_seconds_(bucket|count)",
    PROCESS,
)
# Of what is kept: by labels, what nobody asks for. Parts of a second, each a series for every resource.
_SLI, _ETCD = "apiserver_request_sli_duration_seconds_bucket", "etcd_request_duration_seconds"
_SLI_PARTS = r"0\.05|0\.1|0\.2|0\.4|0\.6|0\.8|1\.25|1\.5|2|3|4|6|8|15|20|45"
_ETCD_PARTS = r"0\.005|0\.025|0\.05|0\.2|0\.8|1\.25|1\.5|2|3|4|5|6|8|10|15|20|30|45"
DROPPED = (
    (("__name__", "le"), rf"{_SLI};({_SLI_PARTS})(\.0)?"),
    (("__name__", "le"), rf"{_ETCD}_bucket;({_ETCD_PARTS})(\.0)?"),
    (("__name__", "operation"), rf"{_ETCD}_(bucket|count);(get|list.*)"),
)
KEPT_OF_ETCD = (
    "etcd_server_(has_leader|is_leader|leader_changes_seen_total|quota_backend_bytes)",
    "etcd_server_proposals_(pending|failed_total)",
    "etcd_server_(heartbeat_send_failures|slow_apply)_total",
    "etcd_mvcc_db_total_size_in(_use_in)?_bytes",
    "etcd_disk_(wal_fsync|backend_commit)_duration_seconds_(bucket|count)",
    PROCESS,
)
KEPT = {
    "controllers": (
        "leader_election_master_status",
        "workqueue_depth",
        "node_collector_(evictions_total|unhealthy_nodes_in_zone)",
        PROCESS,
    ),
    "scheduler": (
        "leader_election_master_status",
        "scheduler_pending_pods",
        "scheduler_schedule_attempts_total",
        "scheduler_pod_scheduling_sli_duration_seconds_(bucket|count)",
        PROCESS,
    ),
}


def scrape_configs(cluster: ClusterSpec) -> list[Json]:
    return [
        {
            **_on_api_machines("apiserver", cluster, API_PORT),
            "metric_relabel_configs": [
                kept(KEPT_OF_API_SERVERS),
                *({"source_labels": [*of], "regex": regex, "action": "drop"} for of, regex in DROPPED),
            ],
        },
        *(
            {**_on_api_machines(job, cluster, METRICS_PORTS[job]), "metric_relabel_configs": [kept(names)]}
            for job, names in KEPT.items()
        ),
        _etcd(cluster),
        _machines(cluster),
    ]


def asking(tls: Json) -> Json:
    """With the credential of its account."""
    return {"scheme": "https", "authorization": {"credentials_file": f"{TOKEN}/token"}, "tls_config": tls}


def _verified() -> Json:
    """Whom it asks: all programs of an API machine have the certificate of its server."""
    return asking({"ca_file": f"{TOKEN}/ca.crt", "server_name": API})


def _on_api_machines(job: str, cluster: ClusterSpec, port: int) -> Json:
    """Each of them, whatever the balancer before them does."""
    targets = [{"targets": [f"{one.address}:{port}"], "labels": {"machine": one.name}} for one in cluster.api]
    return {"job_name": job, **_verified(), "static_configs": targets}


def kept(names: tuple[str, ...]) -> Json:
    """Series of these patterns alone."""
    return {"source_labels": ["__name__"], "regex": "|".join(names), "action": "keep"}


def _etcd(cluster: ClusterSpec) -> Json:
    """Each member, by way of each API machine: one that is away hides none."""
    return {
        "job_name": ETCD,
        # Each member tells it several times, and of a fall of all of them the alarm waits two minutes anyway.
        "scrape_interval": f"{ETCD_SECONDS}s",
        **_verified(),
        "static_configs": [
            _passed_on(by, etcd_metrics.path(ring, member.name), machine=member.name, ring=ring.name)
            for ring in RINGS
            for member in cluster.etcd
            for by in cluster.api
        ],
        "metric_relabel_configs": [kept(KEPT_OF_ETCD)],
    }


def _machines(cluster: ClusterSpec) -> Json:
    """API machines of themselves, and etcd's by way of each of these."""
    ways = [(one, one) for one in cluster.api] + [(by, one) for one in cluster.etcd for by in cluster.api]
    targets = [
        _passed_on(by, machine_metrics.path(one.name), machine=one.name, place=cluster.region) for by, one in ways
    ]
    return {
        "job_name": MACHINES,
        "scrape_interval": f"{ETCD_SECONDS}s",
        **_verified(),
        "static_configs": targets,
        "metric_relabel_configs": [kept(KEPT_OF_MACHINES)],
    }


def _passed_on(by: Machine, path: str, **labels: str) -> Json:
    target = f"{by.address}:{METRICS_PORTS[ETCD]}"
    return {"targets": [target], "labels": {"__metrics_path__": f"/{path}", **labels}}

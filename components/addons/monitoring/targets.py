"""What Prometheus asks, how it finds that, and what it keeps of it: scrape_configs as data.

API servers stand at planned addresses. All others are pods, found by the label of their add-on and the name of a port.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from components.control_plane.machines import API_PORT, ClusterSpec
from fleet.monitoring import SPACE

from .. import autoscaler, maintenance, recorder
from ..manifests import NAME
from ..manifests import SPACE as SYSTEM
from ..system_pods import TOKEN

SECONDS = 30
# A series each for every verb, resource and size of answer: most of what an API server tells, and no alarm's.
KEPT_OF_API_SERVERS = (
    "apiserver_request_total",
    "apiserver_request_terminations_total",
    "apiserver_request_sli_duration_seconds_(bucket|sum|count)",
    "apiserver_current_inflight_requests",
    "apiserver_client_certificate_expiration_seconds_(bucket|count)",
    "apiserver_storage_(objects|size_bytes)",
    "apiserver_admission_webhook_(rejection_count|fail_open_count)",
    "apiserver_audit_(error|event)_total",
    "apiserver_flowcontrol_rejected_requests_total",
    "etcd_request_duration_seconds_(bucket|count)",
    "process_(cpu_seconds_total|resident_memory_bytes|start_time_seconds)",
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
Json = dict[str, Any]


class Pods(NamedTuple):
    """`honest`: its series say themselves of whom they are, and keep their labels. `by_node`: one on each node."""

    job: str
    addon: str
    port: str
    space: str = SPACE
    honest: bool = False
    by_node: bool = False


METRICS = "metrics"
PODS = (
    Pods("kube-state-metrics", "kube-state-metrics", METRICS, honest=True),
    Pods("node-exporter", "node-exporter", METRICS, by_node=True),
    Pods("gpu-exporter", "gpu-exporter", METRICS, by_node=True),
    Pods("prometheus", "prometheus", METRICS),
    Pods("alertmanager", "alertmanager", METRICS),
    Pods("cluster-autoscaler", autoscaler.ADDON, METRICS, SYSTEM),
    Pods("autoscaler-cloud", autoscaler.ADDON, autoscaler.CLOUD_PORT, SYSTEM),
    Pods("recorder", recorder.ADDON, METRICS, SYSTEM),
    Pods("maintenance", maintenance.ADDON, METRICS, SYSTEM),
)
SPACES = tuple(sorted({one.space for one in PODS}))


def scrape_configs(cluster: ClusterSpec) -> list[Json]:
    return [api_servers(cluster), *(pods(one) for one in PODS)]


def api_servers(cluster: ClusterSpec) -> Json:
    """Each of them, whatever the balancer before them does."""
    return {
        "job_name": "apiserver",
        "scheme": "https",
        "authorization": {"credentials_file": f"{TOKEN}/token"},
        "tls_config": {"ca_file": f"{TOKEN}/ca.crt", "server_name": "kubernetes.default.svc"},
        "static_configs": [
            {"targets": [f"{one.address}:{API_PORT}"], "labels": {"machine": one.name}} for one in cluster.api
        ],
        "metric_relabel_configs": [
            {"source_labels": ["__name__"], "regex": "|".join(KEPT_OF_API_SERVERS), "action": "keep"},
            *({"source_labels": [*of], "regex": regex, "action": "drop"} for of, regex in DROPPED),
        ],
    }


def pods(of: Pods) -> Json:
    return {
        "job_name": of.job,
        "honor_labels": of.honest,
        "kubernetes_sd_configs": [found_in(of.space)],
        "relabel_configs": [*those(of.addon, of.port), *_names(of)],
    }


def found_in(space: str) -> Json:
    return {"role": "pod", "namespaces": {"names": [space]}}


def those(addon: str, port: str) -> list[Json]:
    """Pods of an add-on that live, by the name of the port."""
    meta, label = "__meta_kubernetes_pod", NAME.translate(str.maketrans("./-", "___"))
    wanted = {
        f"{addon};{port}": [f"{meta}_label_{label}", f"{meta}_container_port_name"],
        # One that has ended has its address still.
        "Pending|Running": [f"{meta}_phase"],
    }
    return [{"source_labels": labels, "regex": regex, "action": "keep"} for regex, labels in wanted.items()]


def _names(of: Pods) -> Iterator[Json]:
    what = {"node": "node_name"} if of.by_node else {"pod": "name", "node": "node_name"}
    for label, field in what.items():
        yield {"source_labels": [f"__meta_kubernetes_pod_{field}"], "target_label": label}

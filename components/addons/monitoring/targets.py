"""What Prometheus asks, and how it finds that: scrape_configs as data.

Machines of the control plane stand at planned addresses. All others are pods, found by the label of their add-on and
the name of a port.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from components.control_plane.machines import ClusterSpec
from fleet import fleet_metrics
from fleet.monitoring import SPACE

from .. import autoscaler, controllers, kueue, maintenance, recorder
from ..manifests import NAME
from ..manifests import SPACE as SYSTEM
from . import control_plane

SECONDS = 30
# Some hundred series else, on each node.
KEPT_OF_COLLECTORS = (
    "vl_(rows|bytes)_ingested_total",
    "vl_rows_dropped_total",
    "vlagent_remotewrite_(pending_data_bytes|packets_dropped_total)",
    "vm_persistentqueue_bytes_dropped_total",
    control_plane.PROCESS,
)
Json = dict[str, Any]


class Pods(NamedTuple):
    """`honest`: its series say themselves of whom they are, and keep their labels. `by_node`: one on each node.
    `guarded`: it asks for a credential, by TLS of a certificate that it makes itself.

    `kept` are patterns of the names that are kept of what it tells; without one all are.
    """

    job: str
    addon: str
    port: str
    space: str = SPACE
    honest: bool = False
    by_node: bool = False
    guarded: bool = False
    kept: tuple[str, ...] = ()


METRICS = "metrics"
PODS = (
    Pods("kube-state-metrics", "kube-state-metrics", METRICS, honest=True),
    Pods("node-exporter", "node-exporter", METRICS, by_node=True),
    Pods("gpu-exporter", "gpu-exporter", METRICS, by_node=True),
    Pods("prometheus", "prometheus", METRICS),
    Pods("site-metrics", "site-metrics", METRICS),
    Pods("alertmanager", "alertmanager", METRICS),
    Pods("victoria-logs", "victoria-logs", METRICS),
    Pods("log-collector", "log-collector", METRICS, by_node=True, kept=KEPT_OF_COLLECTORS),
    Pods("cluster-autoscaler", autoscaler.ADDON, METRICS, SYSTEM),
    Pods("autoscaler-cloud", autoscaler.ADDON, autoscaler.CLOUD_PORT, SYSTEM),
    Pods("recorder", recorder.ADDON, METRICS, SYSTEM),
    Pods("maintenance", maintenance.ADDON, METRICS, SYSTEM),
    Pods("kueue", kueue.ADDON, METRICS, controllers.SPACE, guarded=True),
    Pods("fleet-metrics", fleet_metrics.ACCOUNT, METRICS, SYSTEM),
)
SPACES = tuple(sorted({one.space for one in PODS}))


# Whether pods of a site's nodes answer those of the cluster's home: what they tell comes by the site itself.
REACH, REACH_SECONDS = "reach", 60


def scrape_configs(cluster: ClusterSpec, sites: Sequence[str] = ()) -> list[Json]:
    """`sites` are those that ask their own nodes: site_metrics.py."""
    asked = (pods(one, *([_at(sites, "drop")] if sites and one.by_node else [])) for one in PODS)
    return [*control_plane.scrape_configs(cluster), *asked, *([_reach(sites)] if sites else [])]


def of_site(site: str) -> list[Json]:
    """What is on each of its nodes."""
    return [pods(one, _at([site], "keep")) for one in PODS if one.by_node]


def _reach(sites: Sequence[str]) -> Json:
    """Its whole answer has to come, and is thrown away."""
    (nodes,) = (one for one in PODS if one.job == "node-exporter")
    nothing = {"source_labels": ["__name__"], "regex": ".+", "action": "drop"}
    return {
        **pods(nodes._replace(job=REACH), _at(sites, "keep")),
        "scrape_interval": f"{REACH_SECONDS}s",
        "metric_relabel_configs": [nothing],
    }


def _at(sites: Sequence[str], action: str) -> Json:
    """Nodes there are called HOST.SITE, and clouds' have no dot: components/pools/on_machine/node_facts.py."""
    return {
        "source_labels": ["__meta_kubernetes_pod_node_name"],
        "regex": rf".+\.({'|'.join(sites)})",
        "action": action,
    }


def pods(of: Pods, *which: Json) -> Json:
    """`which` chooses among them."""
    return {
        "job_name": of.job,
        "honor_labels": of.honest,
        "kubernetes_sd_configs": [found_in(of.space)],
        "relabel_configs": [*those(of.addon, of.port), *which, *_names(of)],
        **(control_plane.asking({"insecure_skip_verify": True}) if of.guarded else {}),
        **({"metric_relabel_configs": [control_plane.kept(of.kept)]} if of.kept else {}),
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

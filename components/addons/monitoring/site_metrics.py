"""What measures a site's nodes at the site: Prometheus in agent mode, which keeps what the home does not take.

It asks what is on each node there, as Prometheus asks elsewhere, and writes all of it to both of these. While the site
is cut off its log of what it wrote grows on the disk, and is read on from where it stopped when the way is back: each
sample comes with the time at which it was taken.

Alarms are made at home, of what is known there: docs/decisions/0072-metrics-of-a-site-that-is-cut-off.md.
"""

from math import ceil

from components.pools import labels
from fleet.monitoring import SPACE

from ..dns import rather_cpu
from ..gpu import tolerated
from ..images import PROMETHEUS
from ..manifests import Manifest, compact, config_map, container, deployment, get, meta, role, rule
from ..priorities import SITE_DNS
from ..spec import AddOnsSpec
from ..system_pods import NARROW, REPLICAS, system_pod
from . import prometheus, sizes, targets

ADDON = "site-metrics"
PORT, DATA, CONFIG, FILE = 9092, "/agent", "/etc/landbridge/site-metrics", "prometheus.yaml"
# When the log is cut, its older two thirds go, sent or not; what is left of it is a third of this at the least.
CUT_HOURS = 3 * prometheus.KEPT_HOURS
# Between two cuts it grows to what the last one left and what has come since.
HELD_HOURS = CUT_HOURS * 3 / 2
# On the disk, packed.
SAMPLE_BYTES = 4
# Of each of the two it writes to. More at a time only fill memory while nobody takes any.
SHARDS = 4
AGENT = sizes.Cost(64, 2_000)


def wanted(spec: AddOnsSpec) -> bool:
    return bool(prometheus.kept_at(spec))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    subject = {"kind": "ServiceAccount", "name": ADDON, "namespace": SPACE}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(ADDON, ADDON, SPACE)},
        *role("Role", ADDON, ADDON, SPACE, [rule("", ["pods"], "get", "list", "watch")], subject),
        *(one for site in prometheus.kept_at(spec) for one in _of_site(spec, site)),
    ]


def _of_site(spec: AddOnsSpec, site: str) -> list[Manifest]:
    name = f"{ADDON}-{site}"
    return [
        config_map(name, ADDON, {FILE: compact(config(site))}, SPACE),
        # One: two would send everything twice. It stays where it is while the site is cut off, as all pods there do.
        deployment(name, ADDON, 1, _pod(spec, site), hosts=True, space=SPACE),
    ]


def config(site: str) -> Manifest:
    """prometheus.yaml: Prometheus' documentation, "Configuration" and "Prometheus Agent"."""
    # No labels of its own: series are the same, whoever has asked for them.
    return {
        "global": {"scrape_interval": f"{targets.SECONDS}s"},
        "runtime": {"gogc": prometheus.GARBAGE_PERCENT},
        "scrape_configs": targets.of_site(site),
        "remote_write": [
            {
                "name": name,
                "url": f"http://{name}.{prometheus.ADDON}.{SPACE}.svc:{prometheus.PORT}/api/v1/write",
                # What is older would be refused there.
                "queue_config": {"max_shards": SHARDS, "sample_age_limit": f"{prometheus.KEPT_HOURS}h"},
            }
            for name in (f"{prometheus.ADDON}-{number}" for number in range(REPLICAS))
        ],
    }


def log_gib(nodes: int) -> int:
    """What the log of so many nodes may grow to, and as much again while it is cut."""
    samples = nodes * sizes.SERIES * HELD_HOURS * 3600 / sizes.SECONDS
    return max(1, ceil(2 * samples * SAMPLE_BYTES / 2**30))


def arguments(config: str, data: str) -> list[str]:
    return [
        "--agent",
        f"--config.file={config}",
        f"--storage.agent.path={data}",
        f"--storage.agent.retention.max-time={prometheus.KEPT_HOURS}h",
        f"--storage.agent.wal-truncate-frequency={CUT_HOURS}h",
        "--enable-feature=auto-reload-config",
        f"--config.auto-reload-interval={prometheus.RELOAD_SECONDS}s",
    ]


def _pod(spec: AddOnsSpec, site: str) -> Manifest:
    there = sizes.nodes(spec, site)
    agent = container(
        ADDON,
        PROMETHEUS,
        "20m",
        sizes.memory(AGENT, there),
        command=["/bin/prometheus"],
        args=[*arguments(f"{CONFIG}/{FILE}", DATA), f"--web.listen-address=:{PORT}"],
        ports=[{"name": targets.METRICS, "containerPort": PORT}],
        readinessProbe=get(PORT, "/-/ready", "", periodSeconds=10),
        livenessProbe=get(PORT, "/-/healthy", "", periodSeconds=10, timeoutSeconds=5, failureThreshold=6),
        securityContext=NARROW,
        volumeMounts=[
            {"name": "config", "mountPath": CONFIG, "readOnly": True},
            {"name": "data", "mountPath": DATA},
        ],
    )
    return system_pod(
        ADDON,
        nodeSelector={labels.PLACE: site},
        tolerations=[tolerated(labels.GPU_TAINT)],
        affinity=rather_cpu(),
        topologySpreadConstraints=[],
        # As DNS there it ends nobody's work, and goes before what is new.
        priorityClassName=SITE_DNS,
        # What it has in memory is sent first.
        terminationGracePeriodSeconds=90,
        containers=[agent],
        volumes=[
            {"name": "config", "configMap": {"name": f"{ADDON}-{site}"}},
            {"name": "data", "emptyDir": {"sizeLimit": f"{log_gib(there)}Gi"}},
        ],
    )

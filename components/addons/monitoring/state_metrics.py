"""kube-state-metrics: what the API says of nodes, pods and workloads, as metrics."""

from components.pools import labels
from fleet.monitoring import SPACE

from ..images import STATE_METRICS
from ..manifests import Manifest, container, deployment, get, rights, rule
from ..spec import AddOnsSpec
from ..system_pods import NARROW, system_pod
from .targets import METRICS

ADDON = "kube-state-metrics"
# None that another program of the machine has: upstream's 8080 is everybody's.
PORT, HEALTH_PORT = 8095, 8096
LOOK = ("list", "watch")
WATCHED = {
    "": ("nodes", "pods"),
    "apps": ("daemonsets", "deployments", "statefulsets"),
    "batch": ("jobs",),
}
# By which alarms know places and pools.
OF_NODES = (labels.POOL, labels.PLACE, labels.ZONE, labels.REGION)
OF_PODS = ("landbridge.dev/run",)
# By the cluster's size, cores and memory: it knows all pods.
ASKED = {"small": ("20m", "96Mi"), "medium": ("100m", "512Mi"), "large": ("300m", "2Gi")}


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [
        *rights(ADDON, ADDON, [rule(group, kinds, *LOOK) for group, kinds in WATCHED.items()], space=SPACE),
        # One: what it tells it knows from the API anew wherever it comes up.
        deployment(ADDON, ADDON, 1, _pod(spec), space=SPACE),
    ]


def _pod(spec: AddOnsSpec) -> Manifest:
    kinds = sorted(kind for found in WATCHED.values() for kind in found)
    kept = {"nodes": OF_NODES, "pods": OF_PODS}
    allowed = ",".join(f"{kind}=[{','.join(found)}]" for kind, found in kept.items())
    return system_pod(
        ADDON,
        containers=[
            container(
                ADDON,
                STATE_METRICS,
                *ASKED[spec.fleet.clusters[spec.cluster.name].size],
                command=["/kube-state-metrics"],
                args=[
                    f"--port={PORT}",
                    f"--telemetry-port={HEALTH_PORT}",
                    f"--resources={','.join(kinds)}",
                    f"--metric-labels-allowlist={allowed}",
                ],
                ports=[{"name": METRICS, "containerPort": PORT}, {"name": "itself", "containerPort": HEALTH_PORT}],
                readinessProbe=get(HEALTH_PORT, "/metrics", "", periodSeconds=10, timeoutSeconds=5),
                livenessProbe=get(PORT, "/livez", "", periodSeconds=20, timeoutSeconds=5, initialDelaySeconds=10),
                securityContext=NARROW,
            )
        ],
    )

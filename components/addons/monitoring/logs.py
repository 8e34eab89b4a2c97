"""VictoriaLogs: two that each keep what all pods print, found when the pods and their machines are gone.

What one has not heard while it moved, the other one has. Who asks them asks both. One that begins on an empty disk
fetches first what the other one has: while it does, it is not ready, and nobody who drains nodes takes the other one.
"""

from fleet import kept_logs
from fleet.monitoring import SPACE, keeps_logs
from fleet.monitoring_model import Logs

from ..images import VICTORIA_LOGS
from ..manifests import Manifest, budget, chosen, container, get, headless, stateful_set
from ..spec import AddOnsSpec
from ..system_pods import NARROW, POD_NAME, alive, ours, system_pod
from . import targets

ADDON = kept_logs.STORE
PORT, HISTORY_PORT, DATA = 9428, 9430, "/victoria-logs-data"
VOLUME = {"name": "data", "mountPath": DATA}
HISTORY = ("python3", "-m", "services.log_history")
# Of the disk, in whole days; the last two stay whatever they are.
KEPT_SHARE = 0.8
# By the cluster's size, cores and memory.
ASKED = {"small": ("20m", "192Mi"), "medium": ("200m", "1Gi"), "large": ("1", "4Gi")}
# Without it caches grow to more than half of the machine's memory.
CACHES = {"small": "96MiB", "medium": "512MiB", "large": "2GiB"}


def wanted(spec: AddOnsSpec) -> bool:
    return keeps_logs(spec.fleet)


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [
        headless(ADDON, ADDON, {"web": PORT}, SPACE),
        stateful_set(ADDON, ADDON, kept_logs.REPLICAS, _pod(spec), space=SPACE),
        budget(ADDON, ADDON, chosen(ADDON, ADDON), SPACE),
    ]


def replicas() -> list[str]:
    """Their pods' names."""
    return kept_logs.pods(ADDON)


def address(replica: str, port: int = PORT) -> str:
    return f"http://{replica}.{ADDON}.{SPACE}.svc:{port}"


def _pod(spec: AddOnsSpec) -> Manifest:
    given = (spec.fleet.monitoring and spec.fleet.monitoring.logs) or Logs()
    pod = system_pod(
        ADDON,
        # It asks the API nothing.
        automountServiceAccountToken=False,
        # What it has in memory is written first.
        terminationGracePeriodSeconds=60,
        initContainers=[_giver(), _fetcher()],
        containers=[_container(given, spec.fleet.clusters[spec.cluster.name].size)],
        volumes=[{"name": "data", "emptyDir": {"sizeLimit": f"{given.disk_gib}Gi"}}],
    )
    return {field: value for field, value in pod.items() if field != "serviceAccountName"}


def _container(given: Logs, size: str) -> Manifest:
    return container(
        ADDON,
        VICTORIA_LOGS,
        *ASKED[size],
        command=["/victoria-logs-prod"],
        args=[
            f"-storageDataPath={DATA}",
            f"-retentionPeriod={given.keep_days}d",
            f"-retention.maxDiskSpaceUsageBytes={round(given.disk_gib * KEPT_SHARE * 1024)}MiB",
            f"-memory.allowedBytes={CACHES[size]}",
            f"-httpListenAddr=:{PORT}",
        ],
        ports=[{"name": targets.METRICS, "containerPort": PORT}],
        startupProbe=get(PORT, "/health", "", periodSeconds=2, failureThreshold=300),
        readinessProbe=get(PORT, "/health", "", periodSeconds=10),
        livenessProbe=get(PORT, "/health", "", periodSeconds=10, timeoutSeconds=5, failureThreshold=6),
        securityContext=NARROW,
        volumeMounts=[VOLUME],
    )


def _giver() -> Manifest:
    """Beside the store for as long as that lives, and up before it: whoever begins at the same time hears from it."""
    words = ["give", f"--data={DATA}", f"--store=http://127.0.0.1:{PORT}", f"--listen=:{HISTORY_PORT}"]
    more = {"restartPolicy": "Always", "volumeMounts": [VOLUME], **alive(HISTORY_PORT, "history")}
    return ours("history", "10m", "48Mi", [*HISTORY, *words], **more)


def _fetcher() -> Manifest:
    addresses = [address(name, HISTORY_PORT) for name in replicas()]
    words = ["fetch", f"--data={DATA}", f"--own=$({POD_NAME['name']})", *addresses]
    return ours("fetch", "10m", "48Mi", [*HISTORY, *words], env=[POD_NAME], volumeMounts=[VOLUME])

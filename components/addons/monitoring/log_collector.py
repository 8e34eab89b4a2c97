"""What brings the lines of each machine's pods, and of its units, to where they are kept: VictoriaMetrics' vlagent.

It reads files as the container runtime writes them, asks the API nothing, and has no right to. Whose a line is says its
file's name, which no pod can choose: NAMESPACE_POD_UID/CONTAINER/STARTS.log. The line itself stays as it is, with the
time that stands before it; a collector that takes lines of JSON apart keeps other ones than were printed.

Units' lines are of JSON, and made so: components/pools/on_machine/node_journal.py.
"""

import json

from components.pools import journal
from fleet.kept_logs import FILE, NODE
from fleet.monitoring import SPACE

from ..images import VLAGENT
from ..manifests import (
    NODE_NAME,
    Manifest,
    container,
    daemon_set,
    get,
    host_path,
)
from ..spec import AddOnsSpec
from ..system_pods import NARROW
from . import logs
from .node_metrics import ON_EACH_NODE
from .targets import METRICS

ADDON = "log-collector"
PORT = 9429
# The kubelet's; and what is read and not yet taken, which outlives the pod.
PODS, DATA = "/var/log/pods", "/var/lib/landbridge/logs"
FOLDERS = {"pods": PODS, "journal": journal.FOLDER, "data": DATA}
ON = f"$({NODE_NAME['name']})"
# Little more than the least that it takes, for each of the two: half a day of a machine that prints ten lines a second.
UNSENT = "513MiB"


def manifests(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    pod = {
        **ON_EACH_NODE,
        # With it a pod knows its peers' names wherever DNS does not.
        "subdomain": logs.ADDON,
        # What is read is sent first.
        "terminationGracePeriodSeconds": 30,
        "containers": [_container()],
        "volumes": [host_path(name, path, "DirectoryOrCreate") for name, path in FOLDERS.items()],
    }
    return [daemon_set(ADDON, ADDON, pod, space=SPACE)]


def arguments(urls: list[str], pods: str, units: str, data: str) -> list[str]:
    """`urls` are those that take lines, each of them all; the others are folders."""
    globs = (f"{pods}/*/*/*.log", f"{units}/*.log")
    return [
        *(f"-fileCollector.glob={one}" for one in globs),
        # A pod may be gone, and its files with it, seconds after it began.
        "-fileCollector.refreshInterval=2s",
        f"-fileCollector.fileField={FILE}",
        # Of the pod it is in: the node's is told beside.
        "-fileCollector.hostnameField=",
        f"-fileCollector.extraFields={json.dumps({NODE: ON})}",
        f"-fileCollector.streamFields={NODE},{FILE}",
        f"-tmpDataPath={data}",
        *(f"-remoteWrite.url={url}/insert/native" for url in urls),
        f"-remoteWrite.maxDiskUsagePerURL={UNSENT}",
        # Twice the machine's cores otherwise, each with memory of its own.
        "-remoteWrite.queues=2",
        "-memory.allowedBytes=48MiB",
    ]


def _container() -> Manifest:
    urls = [logs.address(name) for name in logs.replicas()]
    return container(
        ADDON,
        VLAGENT,
        "20m",
        "96Mi",
        command=["/vlagent-prod"],
        args=[*arguments(urls, *FOLDERS.values()), f"-httpListenAddr=:{PORT}"],
        env=[NODE_NAME],
        ports=[{"name": METRICS, "containerPort": PORT}],
        readinessProbe=get(PORT, "/health", "", periodSeconds=30),
        livenessProbe=get(PORT, "/health", "", periodSeconds=30, timeoutSeconds=5, failureThreshold=6),
        # Files of pods are root's, and it has no more of root than that.
        securityContext={**NARROW, "runAsUser": 0, "runAsGroup": 0},
        volumeMounts=[
            {"name": name, "mountPath": path, **({} if path == DATA else {"readOnly": True})}
            for name, path in FOLDERS.items()
        ],
    )

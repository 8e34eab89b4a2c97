"""metrics-server: what nodes and pods use now, for `kubectl top` and HorizontalPodAutoscalers.

An API of its own behind the API servers. These are no nodes and reach no pod, so it stands on the network of two system
machines. Each pod makes its certificate and tells the APIService: services/api_certificate.py.
"""

from typing import Any

from components.control_plane.firewall import METRICS_API_PORT as PORT
from fleet import monitoring
from fleet.monitoring import SPACE

from ..images import METRICS_SERVER
from ..manifests import (
    NO_WAIT,
    RBAC,
    Manifest,
    budget,
    chosen,
    container,
    deployment,
    meta,
    rights,
    role,
    rule,
)
from ..manifests import SPACE as SYSTEM
from ..spec import AddOnsSpec
from ..system_pods import NARROW, REPLICAS, TOKEN, ours, system_pod

ADDON = "metrics-server"
GROUP, VERSION = "metrics.k8s.io", "v1beta1"
API = f"{VERSION}.{GROUP}"
REGISTRATION = "apiregistration.k8s.io"
READERS = f"landbridge:{ADDON}-readers"
# As API servers call a service behind which an API is.
HOST = f"{ADDON}.{SPACE}.svc"
FOLDER = "/run/landbridge/serving"
PAIR = f"{FOLDER}/pair.pem"
# HorizontalPodAutoscalers look each 15 s. All kubelets are asked twice in each of these, for there are two.
SECONDS = 30
# By the cluster's size, cores and memory: upstream wants 1m and 2 MiB a node (README.md, "Scaling").
ASKED = {"small": ("100m", "200Mi"), "medium": ("500m", "1Gi"), "large": ("2500m", "5Gi")}


def wanted(spec: AddOnsSpec) -> bool:
    return monitoring.metrics_api(spec.fleet)


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    pods = chosen(ADDON, ADDON)
    return [
        *rights(ADDON, ADDON, everywhere(), space=SPACE),
        *role("Role", ADDON, ADDON, SYSTEM, [_callers()], _subject()),
        readers(),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta(ADDON, ADDON, SPACE, annotations=NO_WAIT),
            "spec": {"selector": pods, "ports": [{"name": "https", "port": 443, "targetPort": PORT}]},
        },
        deployment(ADDON, ADDON, REPLICAS, pod(spec), hosts=True, space=SPACE),
        budget(ADDON, ADDON, pods, SPACE),
        api(),
    ]


def api() -> Manifest:
    """Without caBundle, which the pods write: with none API servers trust nobody of ours."""
    return {
        "apiVersion": f"{REGISTRATION}/v1",
        "kind": "APIService",
        "metadata": meta(API, ADDON, "", annotations=NO_WAIT),
        "spec": {
            "group": GROUP,
            "version": VERSION,
            "service": {"name": ADDON, "namespace": SPACE, "port": 443},
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
        },
    }


def everywhere() -> list[Manifest]:
    """Its rights in the whole cluster."""
    return [
        rule("", ["nodes/metrics"], "get"),
        rule("", ["nodes", "pods"], "list", "watch"),
        # Who asks it, and whether they may, it has the API say.
        rule("authentication.k8s.io", ["tokenreviews"], "create"),
        rule("authorization.k8s.io", ["subjectaccessreviews"], "create"),
        {**rule(REGISTRATION, ["apiservices"], "get", "patch"), "resourceNames": [API]},
    ]


def readers() -> Manifest:
    """Whoever may look at a namespace's pods may see what these use."""
    groups = {f"{RBAC}/aggregate-to-{name}": "true" for name in ("view", "edit", "admin")}
    head = meta(READERS, ADDON, "")
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {**head, "labels": {**head["labels"], **groups}},
        "rules": [rule(GROUP, ["pods"], "get", "list")],
    }


def _callers() -> Manifest:
    """By whose certificates API servers are known."""
    found = rule("", ["configmaps"], "get", "list", "watch")
    return {**found, "resourceNames": ["extension-apiserver-authentication"]}


def _subject() -> Manifest:
    return {"kind": "ServiceAccount", "name": ADDON, "namespace": SPACE}


def pod(spec: AddOnsSpec) -> Manifest:
    return system_pod(
        ADDON,
        hostNetwork=True,
        # With the node's own resolver: it asks the API alone, and kubelets by their addresses.
        dnsPolicy="Default",
        initContainers=[
            _certificate("first-certificate", "--once"),
            _certificate("certificate", restartPolicy="Always"),
        ],
        containers=[_server(spec)],
        volumes=[{"name": "serving", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}],
    )


def _certificate(name: str, *words: str, **more: Any) -> Manifest:
    """The first comes before the server begins, and the next ones beside it."""
    command = ["python3", "-m", "services.api_certificate", f"--api={API}", f"--host={HOST}", *words, PAIR]
    return ours(name, "10m", "64Mi", command, volumeMounts=[{"name": "serving", "mountPath": FOLDER}], **more)


def _server(spec: AddOnsSpec) -> Manifest:
    return container(
        ADDON,
        METRICS_SERVER,
        *ASKED[spec.fleet.clusters[spec.cluster.name].size],
        command=["/metrics-server"],
        args=arguments(),
        ports=[{"name": "https", "containerPort": PORT, "hostPort": PORT}],
        # Upstream's. It is ready once it has something to tell.
        readinessProbe=_probe("/readyz"),
        livenessProbe={**_probe("/livez"), "initialDelaySeconds": 15},
        securityContext=NARROW,
        volumeMounts=[{"name": "serving", "mountPath": FOLDER, "readOnly": True}],
    )


def arguments() -> list[str]:
    return [
        f"--secure-port={PORT}",
        f"--tls-cert-file={PAIR}",
        f"--tls-private-key-file={PAIR}",
        f"--kubelet-certificate-authority={TOKEN}/ca.crt",
        # Kubelets' certificates have it, and nobody need know a name.
        "--kubelet-preferred-address-types=InternalIP",
        f"--metric-resolution={SECONDS}s",
        "--profiling=false",
    ]


def _probe(path: str) -> Manifest:
    where = {"host": "127.0.0.1", "port": PORT, "path": path, "scheme": "HTTPS"}
    return {"httpGet": where, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3}

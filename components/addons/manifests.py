"""What manifests of add-ons have in common, so that each topic says only what is its own."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from components.control_plane.machines import API_PORT, ClusterSpec
from components.pools import labels

from .images import Image

Manifest = dict[str, Any]
SPACE = "kube-system"
MANAGED_BY, NAME, INSTANCE = (f"app.kubernetes.io/{what}" for what in ("managed-by", "name", "instance"))
MANAGED = {MANAGED_BY: "landbridge"}
RBAC = "rbac.authorization.k8s.io"
CONFIG = "landbridge.dev/config"
# Pulumi does not wait until it is ready: it may have no node, or one that is cut off, for good reasons.
NO_WAIT = {"pulumi.com/skipAwait": "true"}
NODE_CRITICAL, CLUSTER_CRITICAL = "system-node-critical", "system-cluster-critical"
# A node without it is no node: it runs on nodes that are not ready, cut off, starting or failed.
EVERYWHERE: list[Manifest] = [{"operator": "Exists"}]
NODE_NAME = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}


def meta(name: str, addon: str, space: str = SPACE, **more: Any) -> Manifest:
    """`space` is empty for what lives in no namespace."""
    return {"name": name, **({"namespace": space} if space else {}), "labels": {**MANAGED, NAME: addon}, **more}


def chosen(addon: str, name: str) -> dict[str, str]:
    """The labels by which a workload knows its pods."""
    return {NAME: addon, INSTANCE: name}


def daemon_set(
    name: str, addon: str, pod: Manifest, config: Mapping[str, str] | None = None, *, space: str = SPACE
) -> Manifest:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        # One of thousands of nodes is always out of sight, and no `up` waits for that one.
        "metadata": meta(name, addon, space, annotations=NO_WAIT),
        "spec": {
            "selector": {"matchLabels": chosen(addon, name)},
            "updateStrategy": rolling,
            "template": template(name, addon, pod, config),
        },
    }


def deployment(
    name: str,
    addon: str,
    replicas: int,
    pod: Manifest,
    config: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] = MappingProxyType({}),
    *,
    wait: bool = False,
    hosts: bool = False,
    space: str = SPACE,
) -> Manifest:
    """`annotations` are its pods'. `wait`: an `up` waits for it. `hosts`: each replica has a host of its own."""
    # One more at a time would find no host of its own, and wait for ever.
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta(name, addon, space, annotations={} if wait else NO_WAIT),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": chosen(addon, name)},
            **({"strategy": rolling} if hosts else {}),
            "template": template(name, addon, pod, config, **annotations),
        },
    }


def stateful_set(
    name: str,
    addon: str,
    replicas: int,
    pod: Manifest,
    config: Mapping[str, str] | None = None,
    *,
    space: str = SPACE,
    service: str = "",
) -> Manifest:
    """Each replica keeps its name, and is found by it: of the headless Service that is called as the set is.

    With another `service` nobody looks for it, and it knows that one's pods by name wherever DNS does not.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": meta(name, addon, space, annotations=NO_WAIT),
        "spec": {
            "serviceName": service or name,
            "replicas": replicas,
            # None of them waits for another one.
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": chosen(addon, name)},
            "template": template(name, addon, pod, config),
        },
    }


def headless(name: str, addon: str, ports: Mapping[str, int], space: str = SPACE) -> Manifest:
    """Names of pods, before they are ready, too."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta(name, addon, space, annotations=NO_WAIT),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": chosen(addon, name),
            "ports": [{"name": of, "port": port} for of, port in ports.items()],
        },
    }


def template(
    name: str, addon: str, pod: Manifest, config: Mapping[str, str] | None = None, **annotations: str
) -> Manifest:
    """Of pods; they are replaced when their configuration changes, which a ConfigMap alone would not do."""
    if config:
        text = json.dumps(config, sort_keys=True)
        annotations[CONFIG] = hashlib.sha256(text.encode()).hexdigest()[:16]
    noted = {"annotations": annotations} if annotations else {}
    return {"metadata": {"labels": {**MANAGED, **chosen(addon, name)}, **noted}, "spec": pod}


def on_host(account: str = "", **more: Any) -> Manifest:
    """A pod in the network of its node, with the node's own resolver. Without an account it has no way to the API."""
    rights = {"serviceAccountName": account} if account else {"automountServiceAccountToken": False}
    return {
        "hostNetwork": True,
        "dnsPolicy": "Default",
        "priorityClassName": NODE_CRITICAL,
        "tolerations": EVERYWHERE,
        **rights,
        **more,
    }


def api(cluster: ClusterSpec) -> list[Manifest]:
    """The way to the API for what runs before kube-proxy does, and makes services' addresses work."""
    return [
        {"name": "KUBERNETES_SERVICE_HOST", "value": cluster.endpoint},
        {"name": "KUBERNETES_SERVICE_PORT", "value": str(API_PORT)},
    ]


def container(name: str, image: Image, cpu: str, memory: str, **more: Any) -> Manifest:
    """`cpu` and `memory` are asked for; there is no limit of CPU, which would throttle at the worst moment."""
    return {"name": name, "image": str(image), "resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


def get(port: int, path: str = "/healthz", host: str = "127.0.0.1", **more: Any) -> Manifest:
    """A probe. On the node's network a program listens to the node alone."""
    where = {"host": host} if host else {}
    return {"httpGet": {**where, "path": path, "port": port}, **more}


def host_path(name: str, path: str, kind: str = "") -> Manifest:
    return {"name": name, "hostPath": {"path": path, **({"type": kind} if kind else {})}}


def config_map(name: str, addon: str, data: Mapping[str, str], space: str = SPACE) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, addon, space), "data": dict(data)}


def compact(value: object) -> str:
    """JSON for a file of a ConfigMap."""
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


def rule(group: str, resources: Sequence[str], *verbs: str) -> Manifest:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def rights(
    name: str, addon: str, rules: list[Manifest], here: Sequence[Manifest] = (), space: str = SPACE
) -> list[Manifest]:
    """A service account with rights in the whole cluster, and with others `here`, in its own namespace."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(name, addon, space)}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": space}
    found = [account, *role("ClusterRole", name, addon, "", rules, subject)]
    return [*found, *role("Role", name, addon, space, here, subject)] if here else found


def role(
    kind: str, name: str, addon: str, space: str, rules: Sequence[Manifest], *subjects: Manifest
) -> list[Manifest]:
    """Rights of subjects of any namespace, which stand in `space`, and their binding."""
    called = f"landbridge:{name}"
    shared = {"apiVersion": f"{RBAC}/v1", "metadata": meta(called, addon, space)}
    bound = {"roleRef": {"apiGroup": RBAC, "kind": kind, "name": called}, "subjects": list(subjects)}
    return [{**shared, "kind": kind, "rules": list(rules)}, {**shared, "kind": f"{kind}Binding", **bound}]


def nodes(key: str, operator: str, *values: str) -> Manifest:
    """An affinity to nodes by a label: In, NotIn, Exists or DoesNotExist."""
    expression = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def apart(pods: Mapping[str, str]) -> Manifest:
    """An affinity: no two pods with these labels on one host."""
    alone = {"labelSelector": {"matchLabels": dict(pods)}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]}}


def spread(pods: Mapping[str, str]) -> Manifest:
    """Over zones, where that can be had."""
    return {
        "maxSkew": 1,
        "topologyKey": labels.ZONE,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(pods)},
    }


def budget(name: str, addon: str, pods: Mapping[str, str], space: str = SPACE) -> Manifest:
    """Whoever drains nodes takes one of the pods with these labels at a time."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta(name, addon, space),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": dict(pods)}},
    }

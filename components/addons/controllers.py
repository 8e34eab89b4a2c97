"""How upstream's controllers of runs are run: Kueue and JobSet, in a namespace of their own.

They keep their certificates in Secrets, and whoever may list those of a namespace may list all of them: so they share
none with anybody.
"""

from collections.abc import Mapping
from typing import Any

from . import webhooks
from .images import Image
from .manifests import (
    MANAGED,
    NAME,
    Manifest,
    budget,
    chosen,
    compact,
    config_map,
    container,
    deployment,
    get,
    rights,
    rule,
)
from .system_pods import NARROW, REPLICAS, system_pod

SPACE = "landbridge-runs"
CONFIG, CERTIFICATES = "/etc/landbridge/controller", "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108
FILE = "config.json"


def namespace(addon: str) -> Manifest:
    """Pods on the host's network, which teams' namespaces refuse."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE, "labels": {**MANAGED, NAME: addon}}}


def manifests(
    server: webhooks.Server,
    image: Image,
    config: Mapping[str, Any],
    requests: tuple[str, str],
    rules: list[Manifest],
    *words: str,
) -> list[Manifest]:
    """`requests` are cores and memory, `words` more arguments."""
    addon, data = server.addon, {FILE: compact(config)}
    return [
        *rights(addon, addon, [*rules, *_everywhere(addon)], _here(server), SPACE),
        config_map(addon, addon, data, SPACE),
        deployment(addon, addon, REPLICAS, _pod(server, image, requests, words), data, hosts=True, space=SPACE),
        budget(addon, addon, chosen(addon, addon), SPACE),
    ]


def settings(server: webhooks.Server) -> dict[str, Any]:
    """What the configurations of both have in common, by upstream's own names."""
    return {
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{_health(server)}"},
        "metrics": {"bindAddress": f":{server.metrics}" if server.metrics else "0"},
        "webhook": {"port": server.port},
        "leaderElection": {"leaderElect": True, "resourceName": server.addon, "resourceNamespace": SPACE},
        "internalCertManagement": {
            "enable": True,
            "webhookServiceName": server.service,
            "webhookSecretName": server.secret,
        },
    }


def _ports(server: webhooks.Server) -> dict[str, int]:
    return {"webhooks": server.port, **({"metrics": server.metrics} if server.metrics else {})}


def _health(server: webhooks.Server) -> int:
    """The port of probes, on loopback."""
    return server.port + 1


def _everywhere(addon: str) -> list[Manifest]:
    """Of webhooks' configurations it changes its own; RBAC knows no names where things are listed and watched."""
    kinds = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
    names = [f"{addon}-{kind}-webhook-configuration" for kind in ("mutating", "validating")]
    return [
        rule("", ["events"], "create", "patch", "update"),
        rule(webhooks.GROUP, kinds, "list", "watch"),
        {**rule(webhooks.GROUP, kinds, "get", "update"), "resourceNames": names},
    ]


def _here(server: webhooks.Server) -> list[Manifest]:
    """In a namespace where nobody else keeps anything."""
    return [
        rule("", ["secrets"], "list", "watch"),
        {**rule("", ["secrets"], "get", "update"), "resourceNames": [server.secret]},
        rule("coordination.k8s.io", ["leases"], "create", "get", "update"),
        rule("", ["events"], "create", "patch"),
    ]


def _pod(server: webhooks.Server, image: Image, requests: tuple[str, str], words: tuple[str, ...]) -> Manifest:
    health = _health(server)
    manager = container(
        "manager",
        image,
        *requests,
        command=["/manager"],
        args=[f"--config={CONFIG}/{FILE}", *words],
        ports=[{"name": name, "containerPort": port, "hostPort": port} for name, port in _ports(server).items()],
        livenessProbe=get(health, initialDelaySeconds=15, periodSeconds=20),
        readinessProbe=get(health, "/readyz", initialDelaySeconds=2, periodSeconds=5),
        securityContext=NARROW,
        volumeMounts=[
            {"name": "config", "mountPath": CONFIG, "readOnly": True},
            {"name": "certificates", "mountPath": CERTIFICATES, "readOnly": True},
        ],
    )
    return system_pod(
        server.addon,
        # With the node's own resolver: it asks the API alone.
        hostNetwork=True,
        dnsPolicy="Default",
        containers=[manager],
        volumes=[
            {"name": "config", "configMap": {"name": server.addon}},
            {"name": "certificates", "secret": {"secretName": server.secret, "defaultMode": 0o440}},
        ],
    )

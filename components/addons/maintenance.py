"""Maintenance with notice: the kind of object that announces it, and the service that keeps to what is announced.

Two replicas on system machines, of which one leads (services/maintenance).
"""

from components.pools import admission
from fleet import maintenance
from fleet import maintenance_holds as holds

from . import queues
from .autoscaler import WEBHOOKS, WEBHOOKS_SECRET
from .maintenance_kind import definition, policy
from .manifests import Manifest, budget, chosen, compact, config_map, deployment, meta, rights, role, rule
from .priorities import TABLE, WARM
from .spec import AddOnsSpec
from .system_pods import POD_NAME, REPLICAS, TOKEN, alive, ours, system_pod

ADDON = maintenance.ACCOUNT
SETTINGS, FOLDER, FREEZE = "maintenance-settings", "/etc/landbridge/maintenance", "/etc/landbridge/freeze"
LEASE = f"landbridge-{ADDON}"
# Its metrics and its health: one that no other program of ours has.
PORT = 8090
# By the cluster's size, cores and memory: it knows all nodes, and pods of those where something is planned.
ASKED = {"small": ("20m", "96Mi"), "medium": ("50m", "128Mi"), "large": ("100m", "192Mi")}


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    config = {"settings.json": compact(settings(spec))}
    return [
        definition(),
        *policy(spec.fleet.maintenance.postpone),
        *rights(ADDON, ADDON, everywhere(), here()),
        *(holding() if queues.wanted(spec) else []),
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta(LEASE, ADDON)},
        config_map(SETTINGS, ADDON, config),
        # No `up` waits for it: nothing is drained without it.
        deployment(ADDON, ADDON, REPLICAS, pod(spec), config, hosts=True),
        budget(ADDON, ADDON, chosen(ADDON, ADDON)),
    ]


def everywhere() -> list[Manifest]:
    """Its rights in the whole cluster. Pods it may tell and evict, and delete past a deadline, and never change.

    Plans it makes of what clouds announce, and forgets when they are over.
    """
    return [
        rule(maintenance.GROUP, [maintenance.PLURAL], "list", "watch", "create", "patch", "delete"),
        rule(maintenance.GROUP, [f"{maintenance.PLURAL}/status"], "patch"),
        rule("", ["nodes"], "list", "watch", "patch"),
        rule("", ["nodes/status", "pods/status"], "patch"),
        rule("", ["pods"], "list", "delete"),
        rule("", ["pods/eviction", "events"], "create"),
    ]


def here() -> list[Manifest]:
    return [{**rule("coordination.k8s.io", ["leases"], "get", "update"), "resourceNames": [LEASE]}]


def holding() -> list[Manifest]:
    """Its right to hold a site's GPUs in the queues' namespace."""
    rules = [
        rule(queues.GROUP, ["workloads"], "list", "create", "delete"),
        rule(queues.GROUP, ["workloads/status"], "patch"),
    ]
    subject = {"kind": "ServiceAccount", "name": ADDON, "namespace": maintenance.SPACE}
    return role("Role", ADDON, ADDON, holds.SPACE, rules, subject)


def settings(spec: AddOnsSpec) -> Manifest:
    return {
        "cluster": spec.cluster.name,
        "maintenance": spec.fleet.maintenance.model_dump(mode="json"),
        "fills": TABLE[WARM].value,
        "queued": list(spec.sites) if queues.wanted(spec) else [],
    }


def pod(spec: AddOnsSpec) -> Manifest:
    return system_pod(
        ADDON,
        containers=[_container(spec)],
        volumes=[
            {"name": "settings", "configMap": {"name": SETTINGS}},
            # `landbridge freeze` makes it, and it may be missing.
            {"name": "freeze", "configMap": {"name": admission.FREEZE, "optional": True}},
            # A person makes it, team by team; nobody's pods wait for it.
            {"name": "webhooks", "secret": {"secretName": WEBHOOKS_SECRET, "optional": True, "defaultMode": 0o440}},
        ],
    )


def _container(spec: AddOnsSpec) -> Manifest:
    cpu, memory = ASKED[spec.fleet.clusters[spec.cluster.name].size]
    return ours(
        ADDON,
        cpu,
        memory,
        [
            "python3",
            "-m",
            "services.maintenance",
            f"--settings={FOLDER}/settings.json",
            f"--replica=$({POD_NAME['name']})",
            f"--account={TOKEN}",
            f"--freeze={FREEZE}",
            f"--webhooks={WEBHOOKS}",
            f"--metrics=:{PORT}",
        ],
        env=[POD_NAME],
        **alive(PORT),
        volumeMounts=[
            {"name": "settings", "mountPath": FOLDER, "readOnly": True},
            {"name": "freeze", "mountPath": FREEZE, "readOnly": True},
            {"name": "webhooks", "mountPath": WEBHOOKS, "readOnly": True},
        ],
    )

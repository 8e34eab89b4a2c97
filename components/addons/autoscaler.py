"""The autoscaler: upstream's own, and beside it in the same pod the service that knows the fleet's scaling groups.

Two replicas on system machines, of which one leads. Each pod has a pair of certificates of its own, made when it
starts: the two programs speak over loopback, and nobody else can.
"""

from components.pools import admission
from fleet import autoscaler as identity
from fleet.model import Cloud

from . import autoscaler_notes, gangs, queues
from .autoscaler_flags import CLOUD_CONFIG, METRICS_PORT, arguments
from .autoscaler_settings import priorities, settings
from .aws import autoscaler_role as aws_autoscaler_role
from .aws import pod_role as aws_pod_role
from .azure import pod_role as azure_pod_role
from .images import AUTOSCALER
from .manifests import (
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
from .spec import AddOnsSpec
from .system_pods import NARROW, REPLICAS, TOKEN, alive, ours, system_pod

ADDON = identity.ACCOUNT
SETTINGS = "cluster-autoscaler-settings"
# Both names are the autoscaler's own.
ORDER, STATUS = "cluster-autoscaler-priority-expander", "cluster-autoscaler-status"
FOLDER, PAIR = CLOUD_CONFIG.rpartition("/")[0], "/run/landbridge/pair"
# Not a file of the settings' folder: a ConfigMap is mounted whole.
FREEZE = "/etc/landbridge/freeze"
DECISIONS = "/run/landbridge/decisions"
WEBHOOKS, WEBHOOKS_SECRET = "/etc/landbridge/webhooks", "landbridge-webhooks"
LISTEN, SERVICE_PORT = "127.0.0.1:8086", 8087
# The name of that port, by which its metrics are found.
CLOUD_PORT = "cloud-metrics"
# By the cluster's size, cores and memory: it holds all nodes and pods, and upstream wants a core for 1,000 nodes
# (FAQ.md, "Service Level Objectives").
ASKED = {"small": ("200m", "400Mi"), "medium": ("500m", "1Gi"), "large": ("1", "2Gi")}
# What the scheduler's own rules look at, which it tries on machines that are not there yet.
LOOKED_AT = (
    ("", ("namespaces", "services", "replicationcontrollers", "persistentvolumes", "persistentvolumeclaims")),
    ("apps", ("daemonsets", "replicasets", "statefulsets")),
    ("batch", ("jobs",)),
    ("policy", ("poddisruptionbudgets",)),
    ("storage.k8s.io", ("storageclasses", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments")),
    # Release 1.36 alone, which waits for them before it does anything.
    ("resource.k8s.io", ("resourceclaims", "resourceslices", "deviceclasses")),
)


def wanted(spec: AddOnsSpec) -> bool:
    return identity.wanted(spec.fleet, spec.cluster.name)


def dry_run(spec: AddOnsSpec) -> bool:
    return spec.fleet.clusters[spec.cluster.name].autoscaler_dry_run


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    """Raises ValueError for settings that are larger than a ConfigMap."""
    config = {"settings.json": compact(settings(spec)), CLOUD_CONFIG.rpartition("/")[2]: cloud_config()}
    return [
        gangs.definition(ADDON),
        gangs.editors(ADDON),
        *rights(ADDON, ADDON, everywhere(), here()),
        config_map(SETTINGS, ADDON, config),
        # It is read anew in each decision: no pod need be replaced for it.
        config_map(ORDER, ADDON, {"priorities": order(spec)}),
        _deployment(spec, config),
        budget(ADDON, ADDON, chosen(ADDON, ADDON)),
    ]


def everywhere() -> list[Manifest]:
    """Its rights in the whole cluster. Those beside it have the same token: `cloud` only lists nodes and ends what is
    booked for runs, and `notes` lists nodes and the pods that wait.
    """
    return [
        # A taint on a machine that is to go.
        rule("", ["nodes"], "get", "list", "watch", "update"),
        rule("", ["pods"], "get", "list", "watch"),
        # Never a deletion: budgets hold, and who has none to give keeps the machine.
        rule("", ["pods/eviction"], "create"),
        rule("", ["events"], "create", "patch"),
        *(rule(group, resources, "list", "watch") for group, resources in LOOKED_AT),
        *gangs.rules(),
        # Of runs in teams' queues: whether they have begun.
        rule(queues.GROUP, ["workloads"], "list", "watch"),
    ]


def here() -> list[Manifest]:
    """Its rights in kube-system. RBAC knows no names where things are made, listed and watched."""
    return [
        rule("coordination.k8s.io", ["leases"], "create"),
        {**rule("coordination.k8s.io", ["leases"], "get", "update"), "resourceNames": [ADDON]},
        rule("", ["configmaps"], "create", "list", "watch"),
        {**rule("", ["configmaps"], "get", "update", "delete"), "resourceNames": [STATUS]},
        {**rule("", ["configmaps"], "get", "update"), "resourceNames": autoscaler_notes.names()},
    ]


def order(spec: AddOnsSpec) -> str:
    """YAML, with numbers as keys."""
    lines = [
        line for number, names in priorities(spec).items() for line in (f"{number}:", *(f"  - {n}" for n in names))
    ]
    return "\n".join(lines) + "\n"


def cloud_config() -> str:
    """Upstream's externalgrpc/README.md."""
    return compact(
        {
            "address": LISTEN,
            "cacert": f"{PAIR}/ca.crt",
            "cert": f"{PAIR}/client.crt",
            "key": f"{PAIR}/client.key",
            # A region that throttles keeps a change of size waiting for as long: services/autoscaler/aws/cloud.py.
            "grpc_timeout": "30s",
        }
    )


def _deployment(spec: AddOnsSpec, config: dict[str, str]) -> Manifest:
    # Who puts machines away must not put away itself half-way: hosts with it stay, and there are two of them.
    stays = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    # No `up` waits for it: what runs goes on without it, and `landbridge autoscaler status` tells how it is.
    return deployment(ADDON, ADDON, REPLICAS, pod(spec), config, stays, hosts=True)


def pod(spec: AddOnsSpec) -> Manifest:
    return system_pod(
        ADDON,
        initContainers=[_certificates(), _cloud(spec), _notes(spec)],
        containers=[_autoscaler(spec)],
        volumes=[
            {"name": "settings", "configMap": {"name": SETTINGS}},
            # `landbridge freeze` makes it, and it may be missing.
            {"name": "freeze", "configMap": {"name": admission.FREEZE, "optional": True}},
            # A person makes it, team by team; nobody's pods wait for it.
            {"name": "webhooks", "secret": {"secretName": WEBHOOKS_SECRET, "optional": True, "defaultMode": 0o440}},
            {"name": "pair", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
            {"name": "decisions", "emptyDir": {"sizeLimit": "10Mi"}},
            *([aws_pod_role.volume()] if _in(spec, "aws") else []),
            *([azure_pod_role.volume(ADDON)] if _in(spec, "azure") else []),
        ],
    )


def _in(spec: AddOnsSpec, cloud: Cloud) -> bool:
    """Whether the cluster has scaling groups there."""
    return bool(identity.regions(spec.fleet, spec.cluster.name, cloud))


def _certificates() -> Manifest:
    command = ["python3", "-m", "services.autoscaler.certificates", PAIR]
    return ours("certificates", "10m", "64Mi", command, volumeMounts=[{"name": "pair", "mountPath": PAIR}])


def _cloud(spec: AddOnsSpec) -> Manifest:
    """Beside the autoscaler for as long as that lives, and up before it."""
    env, mounts, more = list[Manifest](), list[Manifest](), list[str]()
    if _in(spec, "aws"):
        env += aws_pod_role.variables(spec, aws_autoscaler_role.role_arn(spec.fleet, spec.cluster.name))
        mounts.append(aws_pod_role.mount())
    if _in(spec, "azure"):
        env += azure_pod_role.variables(spec.fleet, ADDON)
        mounts.append(azure_pod_role.mount())
        more += azure_pod_role.arguments()
    return ours(
        "cloud",
        "100m",
        # Azure's clients alone take 100 MiB.
        "384Mi" if _in(spec, "azure") else "256Mi",
        [
            "python3",
            "-m",
            "services.autoscaler",
            f"--settings={FOLDER}/settings.json",
            f"--pair={PAIR}",
            f"--listen={LISTEN}",
            f"--metrics=:{SERVICE_PORT}",
            f"--freeze={FREEZE}",
            f"--decisions={DECISIONS}/decisions.jsonl",
            f"--account={TOKEN}",
            *(["--bookings"] if queues.wanted(spec) else []),
            *more,
            *(["--dry-run"] if dry_run(spec) else []),
        ],
        restartPolicy="Always",
        env=env,
        **alive(SERVICE_PORT, CLOUD_PORT),
        volumeMounts=[
            _settings(),
            {"name": "freeze", "mountPath": FREEZE, "readOnly": True},
            {"name": "pair", "mountPath": PAIR, "readOnly": True},
            *mounts,
            {"name": "decisions", "mountPath": DECISIONS},
        ],
    )


def _notes(spec: AddOnsSpec) -> Manifest:
    """A day of why pods waited: apart from `cloud`, whose answers it must not hold up."""
    return ours(
        "notes",
        "50m",
        "128Mi",
        [
            "python3",
            "-m",
            "services.autoscaler.notes",
            f"--settings={FOLDER}/settings.json",
            f"--decisions={DECISIONS}/decisions.jsonl",
            f"--webhooks={WEBHOOKS}",
            f"--owner={spec.fleet.owner}",
            *autoscaler_notes.arguments(STATUS, ADDON),
        ],
        restartPolicy="Always",
        volumeMounts=[
            _settings(),
            {"name": "decisions", "mountPath": DECISIONS, "readOnly": True},
            {"name": "webhooks", "mountPath": WEBHOOKS, "readOnly": True},
        ],
    )


def _autoscaler(spec: AddOnsSpec) -> Manifest:
    cpu, memory = ASKED[spec.fleet.clusters[spec.cluster.name].size]
    return container(
        "cluster-autoscaler",
        AUTOSCALER,
        cpu,
        memory,
        command=["./cluster-autoscaler", *arguments(dry_run=dry_run(spec))],
        ports=[{"name": "metrics", "containerPort": METRICS_PORT}],
        # It fails by itself after ten minutes without a loop (its --max-inactivity).
        livenessProbe=get(METRICS_PORT, "/health-check", "", periodSeconds=10, timeoutSeconds=5, failureThreshold=3),
        securityContext=NARROW,
        volumeMounts=[_settings(), {"name": "pair", "mountPath": PAIR, "readOnly": True}],
    )


def _settings() -> Manifest:
    return {"name": "settings", "mountPath": FOLDER, "readOnly": True}

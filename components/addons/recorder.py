"""The recorder: writes to the fleet bucket what it saw of pods, runs, nodes and events, for whoever asks later why.

Two replicas on two system machines, which both watch and both write: what one misses while it moves, the other has.
"""

from components.control_plane.audit import place
from components.storage.azure.spec import CONTAINER
from fleet import recorder
from fleet.buckets import bucket_name, in_azure

from . import jobset, queues
from .aws import pod_role as aws_pod_role
from .aws import recorder_role as aws_recorder_role
from .azure import pod_role as azure_pod_role
from .azure import recorder_role as azure_recorder_role
from .manifests import Manifest, budget, chosen, compact, config_map, deployment, rights, rule
from .spec import AddOnsSpec
from .system_pods import POD_NAME, REPLICAS, TOKEN, alive, ours, system_pod

ADDON = recorder.ACCOUNT
SETTINGS, FOLDER = "recorder-settings", "/etc/landbridge"
# Its metrics and its health: one that no other program of ours has.
PORT = 8089
GRACE_SECONDS = 30
# By the cluster's size, cores and memory: it knows all pods, and what it has not written yet.
ASKED = {"small": ("50m", "128Mi"), "medium": ("100m", "192Mi"), "large": ("200m", "384Mi")}
LOOK = ("list", "watch")


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    config = {"settings.json": compact(settings(spec))}
    return [
        *rights(ADDON, ADDON, everywhere(spec)),
        config_map(SETTINGS, ADDON, config),
        # No `up` waits for it: what runs goes on without it.
        deployment(ADDON, ADDON, REPLICAS, pod(spec), config, hosts=True),
        budget(ADDON, ADDON, chosen(ADDON, ADDON)),
    ]


def everywhere(spec: AddOnsSpec) -> list[Manifest]:
    """Its rights in the whole cluster, which change nothing."""
    runs = [rule(jobset.GROUP, ["jobsets"], *LOOK), rule(queues.GROUP, ["workloads"], *LOOK)]
    return [
        rule("", ["pods", "nodes", "events"], *LOOK),
        # The last lines of what has failed.
        rule("", ["pods/log"], "get"),
        rule("batch", ["jobs"], *LOOK),
        # Without queues the cluster has no such kinds.
        *(runs if queues.wanted(spec) else []),
    ]


def settings(spec: AddOnsSpec) -> Manifest:
    name = spec.cluster.name
    return {
        "cluster": name,
        "into": into(spec),
        "teams": sorted(spec.fleet.teams),
        # Whether there are JobSets and Kueue's workloads to be watched.
        "queues": queues.wanted(spec),
        "machines": [*spec.aws_regions, *azure_recorder_role.machines(spec.fleet, name)],
        "audit": [f"{place(name, one.name)}/" for one in spec.cluster.api],
    }


def into(spec: AddOnsSpec) -> str:
    """The fleet bucket of the cluster's home region."""
    bucket = bucket_name(spec.fleet, spec.cluster.region)
    return f"https://{bucket}.blob.core.windows.net/{CONTAINER}" if _in_azure(spec) else f"s3://{bucket}"


def pod(spec: AddOnsSpec) -> Manifest:
    tokens = [
        *([aws_pod_role.volume()] if _has_role(spec) else []),
        *([azure_pod_role.volume(ADDON)] if _has_identity(spec) else []),
    ]
    return system_pod(
        ADDON,
        terminationGracePeriodSeconds=GRACE_SECONDS,
        containers=[_container(spec)],
        volumes=[{"name": "settings", "configMap": {"name": SETTINGS}}, *tokens],
    )


def _has_role(spec: AddOnsSpec) -> bool:
    return aws_recorder_role.wanted(spec.fleet, spec.cluster.name)


def _has_identity(spec: AddOnsSpec) -> bool:
    return azure_recorder_role.wanted(spec.fleet, spec.cluster.name)


def _in_azure(spec: AddOnsSpec) -> bool:
    return in_azure(spec.fleet, spec.cluster.region)


def _container(spec: AddOnsSpec) -> Manifest:
    cpu, memory = ASKED[spec.fleet.clusters[spec.cluster.name].size]
    known, mounts, more = list[Manifest](), list[Manifest](), list[str]()
    if _has_role(spec):
        known += aws_pod_role.variables(spec, aws_recorder_role.role_arn(spec.fleet, spec.cluster.name))
        mounts.append(aws_pod_role.mount())
    if _has_identity(spec):
        known += azure_pod_role.variables(spec.fleet, ADDON)
        mounts.append(azure_pod_role.mount())
        more += azure_pod_role.arguments()
    return ours(
        ADDON,
        cpu,
        memory,
        [
            "python3",
            "-m",
            "services.recorder",
            f"--settings={FOLDER}/settings.json",
            f"--replica=$({POD_NAME['name']})",
            f"--account={TOKEN}",
            f"--metrics=:{PORT}",
            *more,
        ],
        env=[POD_NAME, *known],
        **alive(PORT),
        volumeMounts=[{"name": "settings", "mountPath": FOLDER, "readOnly": True}, *mounts],
    )

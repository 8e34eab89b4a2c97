"""Kueue: upstream's queues, which let a run begin when its team's quota and a place have room for all of it."""

from components.control_plane.firewall import QUEUES_METRICS_PORT, WEBHOOK_PORTS
from components.pools import labels

from . import controllers, gangs, queues, webhooks
from .definitions import converted, definitions
from .images import KUEUE
from .jobset import GROUP as JOBSETS
from .jobset import VERSION as JOBSET_VERSION
from .manifests import Manifest, rule
from .queues import GROUP, QUEUE_LABEL
from .spec import AddOnsSpec
from .teams import TEAM
from .webhooks import Hook

ADDON = "kueue"
SERVER = webhooks.Server(ADDON, controllers.SPACE, WEBHOOK_PORTS[ADDON])
MONITORED = SERVER._replace(metrics=QUEUES_METRICS_PORT)
# It waits until its authority stands in each of these, though with one version alone nothing is ever converted.
CONVERTED = tuple(f"{kind}.{GROUP}" for kind in ("clusterqueues", "cohorts", "localqueues", "workloads"))
BOTH: tuple[webhooks.Verb, ...] = ("CREATE", "UPDATE")
# Jobs that name no queue are none of its business, and upstream asks about every one.
QUEUED = {"matchExpressions": [{"key": QUEUE_LABEL, "operator": "Exists"}]}
# Nor is it asked about its own kinds: the stack makes queues before any machine is there that it could run on, and
# nobody else may write them.
JOBS = (
    Hook("job", "batch", "v1", "jobs", BOTH, QUEUED),
    Hook("jobset", JOBSETS, JOBSET_VERSION, "jobsets", BOTH),
)
# What nobody has a quota of: GPUs alone are short.
UNCOUNTED = ("cpu", "memory", "ephemeral-storage", "hugepages-", labels.EFA_RESOURCE, labels.RDMA_RESOURCE)
CORES, MEMORY = "200m", "512Mi"
# For machines that are bought, boot and load their images; then all is given back, and tried again later.
START_SECONDS, RECOVERY_SECONDS = 1800, 600


# By itself the program makes 20 calls a second and sees to one object of a kind at a time; upstream's manifests have 50
# and 5. With 200 runs that came at once nothing could be taken back for a minute (bench/queues.py).
CALLS, CALLS_AT_ONCE = 100, 200
AT_ONCE = {f"Workload.{GROUP}": 5, f"JobSet.{JOBSETS}": 5, "Job.batch": 5}


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    server = MONITORED if spec.cluster.monitored else SERVER
    return [
        controllers.namespace(ADDON),
        *converted(definitions(GROUP, ADDON), CONVERTED, SERVER.client("/convert")),
        *webhooks.manifests(SERVER, {"mutating": JOBS, "validating": JOBS}),
        *controllers.manifests(server, KUEUE, config(server), (CORES, MEMORY), rules(server), "--zap-log-level=2"),
    ]


def config(server: webhooks.Server) -> Manifest:
    """https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2"""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "namespace": controllers.SPACE,
        **controllers.settings(server),
        # No Job without a queue's name is touched, nor one outside of teams' namespaces.
        "manageJobsWithoutQueueName": False,
        "managedJobsNamespaceSelector": {"matchExpressions": [{"key": TEAM, "operator": "Exists"}]},
        "clientConnection": {"qps": CALLS, "burst": CALLS_AT_ONCE},
        "controller": {"groupKindConcurrency": AT_ONCE},
        "integrations": {"frameworks": ["batch/job", "jobset.x-k8s.io/jobset"]},
        "resources": {
            "excludeResourcePrefixes": list(UNCOUNTED),
            # Counted once by the place where they are, and once by the team whose they are.
            "transformations": [
                {"input": labels.GPU_RESOURCE, "strategy": "Retain", "outputs": {queues.TEAM_GPUS: "1"}}
            ],
        },
        # In two parts, for as one the longer name looks like a secret to the search for those.
        "fairSharing": {
            "preemptionStrategies": [f"LessThan{what}" for what in ("OrEqualToFinalShare", "InitialShare")]
        },
        "waitForPodsReady": {
            "timeout": f"{START_SECONDS}s",
            "recoveryTimeout": f"{RECOVERY_SECONDS}s",
            "blockAdmission": False,
            "requeuingStrategy": {"timestamp": "Creation", "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800},
        },
        # Nothing of ours needs these, and each wants rights more.
        "featureGates": dict.fromkeys(("MultiKueue", "TopologyAwareScheduling", "VisibilityOnDemand"), False),
    }


def rules(server: webhooks.Server) -> list[Manifest]:
    """Upstream's, for the Jobs that it manages here."""
    look = ("get", "list", "watch")
    queued = ["admissionchecks", "clusterqueues", "cohorts", "localqueues", "resourceflavors", "workloads"]
    return [
        rule("", ["limitranges", "namespaces"], *look),
        rule("node.k8s.io", ["runtimeclasses"], *look),
        rule("scheduling.k8s.io", ["priorityclasses"], *look),
        # By finalizers it holds on to what is in use.
        rule(GROUP, queued, *look, "update", "patch"),
        rule(GROUP, ["workloads"], "create", "delete"),
        rule(GROUP, [f"{kind}/finalizers" for kind in queued], "update"),
        rule(GROUP, [f"{kind}/status" for kind in queued], "get", "patch", "update"),
        rule(GROUP, ["provisioningrequestconfigs", "workloadpriorityclasses"], *look),
        rule("batch", ["jobs"], *look, "patch", "update", "delete"),
        rule("batch", ["jobs/finalizers", "jobs/status"], "get", "patch", "update"),
        rule(JOBSETS, ["jobsets"], *look, "patch", "update", "delete"),
        rule(JOBSETS, ["jobsets/finalizers", "jobsets/status"], "get", "patch", "update"),
        # What it has bought for a run.
        rule(gangs.GROUP, [gangs.PLURAL], *look, "create", "delete", "patch", "update"),
        rule(gangs.GROUP, [f"{gangs.PLURAL}/status"], "get"),
        rule("", ["podtemplates"], *look, "create", "delete", "update"),
        rule("apiextensions.k8s.io", ["customresourcedefinitions"], "list", "watch"),
        {
            **rule("apiextensions.k8s.io", ["customresourcedefinitions"], "get", "update"),
            "resourceNames": list(CONVERTED),
        },
        *(_who_asks() if server.metrics else []),
    ]


def _who_asks() -> list[Manifest]:
    """It has the API say who wants its metrics, and whether they may."""
    return [
        rule("authentication.k8s.io", ["tokenreviews"], "create"),
        rule("authorization.k8s.io", ["subjectaccessreviews"], "create"),
    ]

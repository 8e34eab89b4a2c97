"""The autoscaler's flags, each with its reason. Releases 1.33 and 1.36 know all of them, and both are run.

What is 1.33's default and stands here all the same is so because 1.36 has another one, or because training rests on it.
(Cluster Autoscaler's FAQ.md, "What are the parameters to CA?"; config/flags/flags.go of both releases.)
"""

from typing import NamedTuple

from components.pools import labels
from components.pools.aws import hooks as aws_hooks
from fleet.address import sizes

from .priorities import BUYS_FROM

METRICS_PORT = 8085
CLOUD_CONFIG = "/etc/landbridge/autoscaler/cloud-config.yaml"
# Of the largest cluster.
MOST_NODES = max(size.nodes for size in sizes.CLUSTERS.values())
# One of sixteen GPUs is more than this share of a machine's.
ANY_GPU = "0.01"


class Flag(NamedTuple):
    value: str
    why: str


FLAGS: dict[str, Flag] = {
    # Where it asks, and who leads.
    "cloud-provider": Flag("externalgrpc", "one service knows the groups of every region and cloud"),
    "cloud-config": Flag(CLOUD_CONFIG, "where that service listens, in the same pod"),
    "namespace": Flag("kube-system", "where its lease, its status and the order of the groups are"),
    "leader-elect": Flag("true", "of two replicas one decides; the other takes over within 15 s"),
    "address": Flag(f":{METRICS_PORT}", "its metrics and its health"),
    "kube-api-content-type": Flag("application/json", "in the other form release 1.33 can't answer gangs"),
    "kube-client-qps": Flag("50", "every machine that goes is tainted by two calls: at 5 a second 200 take minutes"),
    "kube-client-burst": Flag("100", "as a kubelet's"),
    "write-status-configmap": Flag("true", "what it thinks of each group, for people"),
    "emit-per-nodegroup-metrics": Flag("true", "size and health of each scaling group"),
    "v": Flag("2", "which group it chose, and what it removes; at 4 each node and each loop"),
    # When it buys, and where.
    "scan-interval": Flag("2s", "a refusal is seen, and the next group asked, within seconds"),
    "expander": Flag("priority", "the order of the fleet file"),
    "balance-similar-node-groups": Flag("false", "a pool's zones are filled one after another, each from its fabric"),
    "enforce-node-group-min-size": Flag(
        "true", "Azure counts a machine that was deleted or taken back off its scale set, and would leave it below min"
    ),
    "max-nodes-per-scaleup": Flag(str(MOST_NODES), "a burst is one change of size for each group"),
    "max-nodegroup-binpacking-duration": Flag("10s", "no group's arithmetic holds up the others"),
    "expendable-pods-priority-cutoff": Flag(str(BUYS_FROM), "spare pods buy no machine and keep none"),
    "max-node-provision-time": Flag("15m", "a machine that has not joined by then is given up, another group asked"),
    "initial-node-group-backoff-duration": Flag("1m", "capacity comes back: a refused group is asked again soon"),
    "max-node-group-backoff-duration": Flag("15m", "and then at intervals that double, up to this"),
    "node-group-backoff-reset-timeout": Flag("1h", "without a refusal for so long it is forgotten"),
    "enable-provisioning-requests": Flag("true", "a gang's machines are bought in one scaling group, all or none"),
    "provisioning-request-max-backoff-time": Flag("5m", "a gang that found no room is tried again at least so often"),
    "status-taint": Flag(
        labels.GPU_FAILED.key, "one broken GPU does not make the pool's next machine look unfit; the node stays ready"
    ),
    # A machine room out of sight neither stops bursting nor costs anybody a machine.
    "max-total-unready-percentage": Flag("100", "half of the cluster NotReady would stop it, as sites' nodes count"),
    "ok-total-unready-count": Flag(str(MOST_NODES), "the same as a number of nodes"),
    "scale-down-unready-enabled": Flag("false", "a node out of sight may be training: nobody removes it for that"),
    # What goes, and how gently.
    "scale-down-unneeded-time": Flag("5m", "about as long as a GPU machine takes to boot: it pays to keep it so long"),
    "scale-down-delay-after-add": Flag("0s", "else idle machines of all regions stay while any group grows"),
    "scale-down-utilization-threshold": Flag("0.5", "of a machine without GPUs: below it its pods may move together"),
    "scale-down-gpu-utilization-threshold": Flag(ANY_GPU, "who holds a GPU keeps its machine: training never moves"),
    "ignore-daemonsets-utilization": Flag("true", "what every node runs is no reason to keep one"),
    "daemonset-eviction-for-occupied-nodes": Flag("false", "mounts and network stay until the last pod has ended"),
    "max-graceful-termination-sec": Flag(str(aws_hooks.SECONDS), "as long as a machine's end is put off for it"),
    "max-drain-parallelism": Flag("1", "machines with pods go one after another"),
    "max-scale-down-parallelism": Flag("10", "empty ones ten at a time: a wrong decision can be stopped half-way"),
    "cordon-node-before-terminating": Flag("false", "its own taint does it; a cordon by hand is never taken back"),
    "skip-nodes-with-system-pods": Flag("true", "pods of kube-system go only under a disruption budget"),
    "skip-nodes-with-local-storage": Flag("true", "checkpoints on a node's disk would go with it"),
    "skip-nodes-with-custom-controller-pods": Flag("true", "pods of training operators may not come back as they were"),
}


# Of a dry run: what goes is asked of no cloud and of no node either, for a node is tainted before its machine ends.
DRY_RUN: dict[str, Flag] = {
    "scale-down-unneeded-time": Flag("87600h", "what could go is counted, and nothing goes"),
    "max-bulk-soft-taint-count": Flag("0", "idle nodes get no taint that turns pods away"),
}


def arguments(*, dry_run: bool = False) -> list[str]:
    """As they stand on its command line."""
    return [f"--{name}={flag.value}" for name, flag in (FLAGS | (DRY_RUN if dry_run else {})).items()]

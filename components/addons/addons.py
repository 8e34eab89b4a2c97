"""All add-ons of a cluster, in the order in which they are registered."""

from collections.abc import Callable
from typing import NamedTuple

from . import (
    admission,
    autoscaler,
    csi,
    dns,
    fairness,
    flannel,
    gpu,
    jobset,
    joining,
    kube_proxy,
    kueue,
    maintenance,
    network_policies,
    node_dns,
    priorities,
    queues,
    rdma,
    recorder,
    shares,
    spares,
    teams,
    tolerations,
)
from .aws import efa as aws_efa
from .aws import team_pods as aws_team_pods
from .azure import team_pods as azure_team_pods
from .manifests import Manifest
from .monitoring import (
    alertmanager,
    fleet_metrics,
    gpu_metrics,
    log_collector,
    log_reader,
    logs,
    metrics_api,
    node_metrics,
    prometheus,
    site_metrics,
    state_metrics,
)
from .spec import AddOnsSpec


def always(spec: AddOnsSpec) -> bool:  # noqa: ARG001
    return True


class AddOn(NamedTuple):
    """`depends_on` are add-ons whose objects must be there before, if the cluster has them at all."""

    manifests: Callable[[AddOnsSpec], list[Manifest]]
    depends_on: tuple[str, ...] = ()
    wanted: Callable[[AddOnsSpec], bool] = always

    def made(self, spec: AddOnsSpec) -> list[Manifest]:
        """As the cluster's version of Kubernetes takes them."""
        return [admission.served(one, spec.cluster.kubernetes) for one in self.manifests(spec)]


TABLE: dict[str, AddOn] = {
    joining.ADDON: AddOn(joining.manifests),
    priorities.ADDON: AddOn(priorities.manifests),
    tolerations.ADDON: AddOn(tolerations.manifests),
    kube_proxy.ADDON: AddOn(kube_proxy.manifests),
    flannel.ADDON: AddOn(flannel.manifests),
    network_policies.ADDON: AddOn(network_policies.manifests),
    # A policy without an engine would be a promise that nobody keeps.
    teams.ADDON: AddOn(teams.manifests, (network_policies.ADDON,)),
    # A level of a team is named by what sends its requests there, in whichever order they come.
    fairness.ADDON: AddOn(fairness.manifests),
    aws_team_pods.ADDON: AddOn(aws_team_pods.manifests, (teams.ADDON,), wanted=aws_team_pods.wanted),
    azure_team_pods.ADDON: AddOn(azure_team_pods.manifests, (teams.ADDON,), wanted=azure_team_pods.wanted),
    dns.ADDON: AddOn(dns.manifests, (priorities.ADDON, kube_proxy.ADDON, flannel.ADDON)),
    # On a node that has the cache, and no CoreDNS to ask, no name is found.
    node_dns.ADDON: AddOn(node_dns.manifests, (dns.ADDON,)),
    gpu.ADDON: AddOn(gpu.manifests, wanted=gpu.wanted),
    aws_efa.ADDON: AddOn(aws_efa.manifests, wanted=aws_efa.wanted),
    rdma.ADDON: AddOn(rdma.manifests, wanted=rdma.wanted),
    csi.NFS_DRIVER.addon: AddOn(csi.nfs, wanted=csi.nfs_wanted),
    csi.EFS_DRIVER.addon: AddOn(csi.efs, wanted=csi.efs_wanted),
    shares.ADDON: AddOn(
        shares.manifests, (teams.ADDON, csi.NFS_DRIVER.addon, csi.EFS_DRIVER.addon), wanted=shares.wanted
    ),
    autoscaler.ADDON: AddOn(
        autoscaler.manifests,
        (priorities.ADDON, kube_proxy.ADDON, flannel.ADDON, dns.ADDON),
        wanted=autoscaler.wanted,
    ),
    # Its namespace is JobSet's, too.
    # Kueue looks once for the definition of ProvisioningRequests, which the autoscaler brings.
    kueue.ADDON: AddOn(kueue.manifests, (priorities.ADDON, kube_proxy.ADDON, autoscaler.ADDON), wanted=queues.wanted),
    jobset.ADDON: AddOn(jobset.manifests, (kueue.ADDON,), wanted=queues.wanted),
    queues.ADDON: AddOn(queues.manifests, (kueue.ADDON, jobset.ADDON, teams.ADDON), wanted=queues.wanted),
    # It watches runs, whose kinds the queues bring.
    recorder.ADDON: AddOn(
        recorder.manifests,
        (priorities.ADDON, kube_proxy.ADDON, flannel.ADDON, dns.ADDON, kueue.ADDON, jobset.ADDON),
    ),
    # It holds GPUs in the queues' namespace.
    maintenance.ADDON: AddOn(
        maintenance.manifests, (priorities.ADDON, kube_proxy.ADDON, flannel.ADDON, dns.ADDON, queues.ADDON)
    ),
    # Its namespace is that of all that measures.
    prometheus.ADDON: AddOn(
        prometheus.manifests,
        (priorities.ADDON, kube_proxy.ADDON, flannel.ADDON, dns.ADDON),
        wanted=prometheus.wanted,
    ),
    site_metrics.ADDON: AddOn(site_metrics.manifests, (priorities.ADDON, prometheus.ADDON), wanted=site_metrics.wanted),
    alertmanager.ADDON: AddOn(alertmanager.manifests, (prometheus.ADDON,), wanted=alertmanager.wanted),
    state_metrics.ADDON: AddOn(state_metrics.manifests, (prometheus.ADDON,), wanted=prometheus.wanted),
    node_metrics.ADDON: AddOn(node_metrics.manifests, (prometheus.ADDON,), wanted=prometheus.wanted),
    gpu_metrics.ADDON: AddOn(gpu_metrics.manifests, (prometheus.ADDON, gpu.ADDON), wanted=gpu_metrics.wanted),
    logs.ADDON: AddOn(logs.manifests, (prometheus.ADDON,), wanted=logs.wanted),
    log_collector.ADDON: AddOn(log_collector.manifests, (logs.ADDON,), wanted=logs.wanted),
    log_reader.ADDON: AddOn(log_reader.manifests, (logs.ADDON,), wanted=log_reader.wanted),
    metrics_api.ADDON: AddOn(metrics_api.manifests, (prometheus.ADDON,), wanted=metrics_api.wanted),
    fleet_metrics.ADDON: AddOn(
        fleet_metrics.manifests, (priorities.ADDON, prometheus.ADDON), wanted=fleet_metrics.wanted
    ),
    spares.ADDON: AddOn(spares.manifests, (priorities.ADDON, tolerations.ADDON), wanted=spares.wanted),
    # Machines join from then on, and no earlier than they can be shut out.
    joining.POOLS_ADDON: AddOn(joining.pools, (joining.ADDON,)),
}


def wanted(spec: AddOnsSpec) -> dict[str, AddOn]:
    """Those that the cluster has, by name."""
    return {name: addon for name, addon in TABLE.items() if addon.wanted(spec)}


def manifests(spec: AddOnsSpec) -> dict[str, list[Manifest]]:
    """Of every add-on of the cluster, in the order of registration."""
    return {name: addon.made(spec) for name, addon in wanted(spec).items()}

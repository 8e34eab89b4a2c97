"""Every image that add-ons run: pinned by version, with the licence of what is in it.

Their digests are in fleet/containers.lock, by `make lock`; docs/decisions/0083-supply-chain.md says which have none.
"""

from collections.abc import Iterable
from typing import NamedTuple

from fleet import container_lock, image_names


class Image(NamedTuple):
    """`source` is where the version and the licence were read."""

    repository: str
    tag: str
    licence: str
    source: str

    @property
    def name(self) -> str:
        return f"{self.repository}:{self.tag}"

    def __str__(self) -> str:
        """What a pod is given: with the digest, where the lock has it."""
        return self.name if self in OF_MACHINES else container_lock.reference(self.name)


APACHE = "Apache-2.0"
DEVICE_PLUGIN = Image(
    "nvcr.io/nvidia/k8s-device-plugin", "v0.20.0", APACHE, "NVIDIA/k8s-device-plugin, deployments/static"
)
# The public copy of what EKS's chart runs: that one's registry asks for credentials.
EFA = Image(
    "public.ecr.aws/eks/aws-efa-k8s-device-plugin",
    "v0.5.7",
    "not stated",
    "aws/eks-charts, stable/aws-efa-k8s-device-plugin",
)
RDMA = Image(
    "ghcr.io/mellanox/k8s-rdma-shared-dev-plugin",
    "v1.5.3",
    APACHE,
    "Mellanox/k8s-rdma-shared-dev-plugin, tags and .github/workflows/release.yaml",
)
FLANNEL = Image("ghcr.io/flannel-io/flannel", "v0.28.9", APACHE, "flannel-io/flannel, Documentation/kube-flannel.yml")
FLANNEL_CNI = Image(
    "ghcr.io/flannel-io/flannel-cni-plugin",
    "v1.9.1-flannel3",
    APACHE,
    "flannel-io/flannel, Documentation/kube-flannel.yml",
)
NETWORK_POLICIES = Image(
    "registry.k8s.io/networking/kube-network-policies",
    "v1.1.1",
    APACHE,
    "kubernetes-sigs/kube-network-policies, install.yaml",
)
# The version that kubeadm 1.36 installs.
COREDNS = Image(
    "registry.k8s.io/coredns/coredns", "v1.14.2", APACHE, "kubernetes/kubernetes, cmd/kubeadm/app/constants"
)
NODE_DNS = Image("registry.k8s.io/dns/k8s-dns-node-cache", "1.26.8", APACHE, "kubernetes/dns")
NFS = Image("registry.k8s.io/sig-storage/nfsplugin", "v4.13.4", APACHE, "kubernetes-csi/csi-driver-nfs, deploy/v4.13.4")
EFS = Image(
    "public.ecr.aws/efs-csi-driver/amazon/aws-efs-csi-driver",
    "v3.4.1",
    APACHE,
    "kubernetes-sigs/aws-efs-csi-driver, charts",
)
REGISTRAR = Image(
    "registry.k8s.io/sig-storage/csi-node-driver-registrar",
    "v2.17.0",
    APACHE,
    "kubernetes-csi/csi-driver-nfs, deploy/v4.13.4",
)
LIVENESS = Image(
    "registry.k8s.io/sig-storage/livenessprobe", "v2.19.0", APACHE, "kubernetes-csi/csi-driver-nfs, deploy/v4.13.4"
)

# Kubernetes' own version: the autoscaler reckons as its scheduler does.
AUTOSCALER = Image(
    "registry.k8s.io/autoscaling/cluster-autoscaler", "v1.36.1", APACHE, "kubernetes/autoscaler, cluster-autoscaler"
)
# Those that tools/go_tools.py builds for the local cloud.
KUEUE = Image("registry.k8s.io/kueue/kueue", "v0.17.0", APACHE, "kubernetes-sigs/kueue, releases/tag/v0.17.0")
JOBSET = Image("registry.k8s.io/jobset/jobset", "v0.11.1", APACHE, "kubernetes-sigs/jobset, releases/tag/v0.11.1")
PROMETHEUS = Image("quay.io/prometheus/prometheus", "v3.16.0", APACHE, "prometheus/prometheus, releases/tag/v3.16.0")
ALERTMANAGER = Image(
    "quay.io/prometheus/alertmanager", "v0.31.1", APACHE, "prometheus/alertmanager, releases/tag/v0.31.1"
)
NODE_EXPORTER = Image(
    "quay.io/prometheus/node-exporter", "v1.12.1", APACHE, "prometheus/node_exporter, releases/tag/v1.12.1"
)
DCGM_EXPORTER = Image(
    "nvcr.io/nvidia/k8s/dcgm-exporter",
    "4.2.3-4.1.3-ubuntu22.04",
    APACHE,
    "NVIDIA/dcgm-exporter, deployment/values.yaml",
)
STATE_METRICS = Image(
    "registry.k8s.io/kube-state-metrics/kube-state-metrics",
    "v2.18.0",
    APACHE,
    "kubernetes/kube-state-metrics, releases/tag/v2.18.0",
)
VICTORIA_LOGS = Image(
    "quay.io/victoriametrics/victoria-logs", "v1.52.1", APACHE, "VictoriaMetrics/VictoriaLogs, releases/tag/v1.52.1"
)
VLAGENT = Image(
    "quay.io/victoriametrics/vlagent", "v1.52.1", APACHE, "VictoriaMetrics/VictoriaLogs, releases/tag/v1.52.1"
)
METRICS_SERVER = Image(
    "registry.k8s.io/metrics-server/metrics-server",
    "v0.9.0",
    APACHE,
    "kubernetes-sigs/metrics-server, releases/tag/v0.9.0",
)
# That of every machine's own pods: components/pools/containerd.py.
PAUSE = Image("registry.k8s.io/pause", "3.10.2", APACHE, "kubernetes/kubernetes, build/pause")
# Part of the machines' own image: no registry has it, and no node asks one for it.
SERVICES = Image(*image_names.SERVICES, "not stated", "services/, in this repository")
# Machines' own image brings them, and knows them by their tags: a digest would have nodes ask a registry.
OF_MACHINES = (PAUSE, SERVICES)


def kube_proxy(kubernetes: str) -> Image:
    """Of the cluster's own version of Kubernetes."""
    return Image("registry.k8s.io/kube-proxy", f"v{kubernetes}", APACHE, "kubernetes/kubernetes")


PINNED = (
    DEVICE_PLUGIN,
    EFA,
    RDMA,
    FLANNEL,
    FLANNEL_CNI,
    NETWORK_POLICIES,
    COREDNS,
    NODE_DNS,
    NFS,
    EFS,
    REGISTRAR,
    LIVENESS,
    AUTOSCALER,
    KUEUE,
    JOBSET,
    PROMETHEUS,
    ALERTMANAGER,
    NODE_EXPORTER,
    DCGM_EXPORTER,
    STATE_METRICS,
    VICTORIA_LOGS,
    VLAGENT,
    METRICS_SERVER,
    PAUSE,
    SERVICES,
)


def asked_for(versions: Iterable[str]) -> list[str]:
    """All that `make lock` asks registries for; `versions` are those of Kubernetes."""
    pinned = [image for image in PINNED if image not in OF_MACHINES]
    return sorted(image.name for image in (*pinned, *map(kube_proxy, versions)))

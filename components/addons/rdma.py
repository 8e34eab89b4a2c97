"""RDMA as a resource that pods ask for, rdma/hca: InfiniBand or RoCE of sites' hosts, InfiniBand of Azure's sizes that
have it. On AWS it is EFA: aws/efa.py.

All adapters of a host are for every pod that asks for one of these: they are shared, and only counted.
"""

from collections.abc import Iterator, Sequence

from components.pools import kubelet, labels

from .gpu import PLUGINS, TOLERATED, tolerated
from .images import RDMA
from .manifests import Manifest, compact, config_map, container, daemon_set, host_path, nodes, on_host
from .spec import AddOnsSpec

ADDON = labels.RDMA_PLUGIN[1]
IN_AZURE = f"{ADDON}-azure"
CONFIG, DEVICES = "/k8s-rdma-shared-dev-plugin", "/dev/infiniband"
Selectors = dict[str, list[str]]
# NVIDIA (Mellanox), Broadcom, Intel: PCI vendors whose adapters speak RDMA. Those of their cards that do not have no
# device in DEVICES, and the plugin leaves them out. Never by names of interfaces, which differ from host to host.
ANY: Selectors = {"vendors": ["15b3", "14e4", "8086"]}
# A machine's way to the network is an adapter of the same vendor there, which speaks to no other machine's memory
# (Azure/aks-rdma-infiniband, configs/nicclusterpolicy).
INFINIBAND: Selectors = {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
RESCAN_SECONDS = 300


def wanted(spec: AddOnsSpec) -> bool:
    return any(pool.hardware.rdma for pool in spec.pools)


def config(selectors: Selectors) -> dict[str, str]:
    prefix, _, name = labels.RDMA_RESOURCE.partition("/")
    resource = {
        "resourcePrefix": prefix,
        "resourceName": name,
        # As many as a node has pods: the network is shared by all that come.
        "rdmaHcaMax": kubelet.MOST_PODS,
        "selectors": selectors,
    }
    return {"config.json": compact({"periodicUpdateInterval": RESCAN_SECONDS, "configList": [resource]})}


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    """A daemon set for sites, and one for regions of Azure."""
    having = [pool for pool in spec.pools if pool.hardware.rdma]
    found: list[Manifest] = []
    if any(pool.site for pool in having):
        found += _of(ADDON, ANY, "NotIn", spec.azure_regions)
    if any(not pool.site for pool in having):
        found += _of(IN_AZURE, INFINIBAND, "In", spec.azure_regions)
    return found


def _of(name: str, selectors: Selectors, operator: str, azure: Sequence[str]) -> Iterator[Manifest]:
    where: Manifest = {"affinity": nodes(labels.PLACE, operator, *azure)} if azure else {}
    pod = on_host(
        # Every such host's label from its kubelet: components/pools/labels.py.
        nodeSelector={labels.RDMA: "true"},
        **where,
        tolerations=[tolerated(taint) for taint in TOLERATED],
        containers=[_plugin()],
        volumes=[
            host_path("plugins", PLUGINS, "Directory"),
            # Its driver makes the folder, perhaps after the kubelet has started.
            host_path("devices", DEVICES, "DirectoryOrCreate"),
            {"name": "config", "configMap": {"name": name}},
        ],
    )
    yield config_map(name, ADDON, config(selectors))
    yield daemon_set(name, ADDON, pod, config(selectors))


def _plugin() -> Manifest:
    return container(
        "plugin",
        RDMA,
        "10m",
        "32Mi",
        # Upstream's is privileged, to set interfaces up: on a host they are up, or the host has no fabric.
        securityContext={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        volumeMounts=[
            {"name": "plugins", "mountPath": PLUGINS},
            {"name": "devices", "mountPath": DEVICES, "readOnly": True},
            {"name": "config", "mountPath": CONFIG, "readOnly": True},
        ],
    )

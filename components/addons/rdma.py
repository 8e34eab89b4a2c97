"""RDMA of sites' hosts, InfiniBand or RoCE, as a resource that pods ask for: rdma/hca. In clouds it is EFA: efa.py.

All adapters of a host are for every pod that asks for one of these: they are shared, and only counted.
"""

from components.pools import kubelet, labels

from .gpu import PLUGINS, TOLERATED, tolerated
from .images import RDMA
from .manifests import Manifest, compact, config_map, container, daemon_set, host_path, nodes, on_host
from .spec import AddOnsSpec

ADDON = labels.RDMA_PLUGIN[1]
CONFIG, DEVICES = "/k8s-rdma-shared-dev-plugin", "/dev/infiniband"
# NVIDIA (Mellanox), Broadcom, Intel: PCI vendors whose adapters speak RDMA. Those of their cards that do not have no
# device in DEVICES, and the plugin leaves them out. Never by names of interfaces, which differ from host to host.
VENDORS = ["15b3", "14e4", "8086"]
RESCAN_SECONDS = 300


def wanted(spec: AddOnsSpec) -> bool:
    return any(pool.hardware.rdma for pool in spec.pools)


def config() -> dict[str, str]:
    prefix, _, name = labels.RDMA_RESOURCE.partition("/")
    resource = {
        "resourcePrefix": prefix,
        "resourceName": name,
        # As many as a node has pods: the network is shared by all that come.
        "rdmaHcaMax": kubelet.MOST_PODS,
        "selectors": {"vendors": VENDORS},
    }
    return {"config.json": compact({"periodicUpdateInterval": RESCAN_SECONDS, "configList": [resource]})}


def manifests(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    plugin = container(
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
    pod = on_host(
        # The label is every such host's from its kubelet: components/pools/labels.py.
        affinity=nodes(labels.RDMA, "In", "true"),
        tolerations=[tolerated(taint) for taint in TOLERATED],
        containers=[plugin],
        volumes=[
            host_path("plugins", PLUGINS, "Directory"),
            # Its driver makes the folder, perhaps after the kubelet has started.
            host_path("devices", DEVICES, "DirectoryOrCreate"),
            {"name": "config", "configMap": {"name": ADDON}},
        ],
    )
    return [config_map(ADDON, ADDON, config()), daemon_set(ADDON, ADDON, pod, config())]

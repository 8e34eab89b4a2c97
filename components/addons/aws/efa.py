"""EFA, the network between GPU machines on AWS, as a resource that pods ask for: vpc.amazonaws.com/efa."""

from components.pools import labels

from ..gpu import PLUGINS, TOLERATED, tolerated
from ..images import EFA
from ..manifests import Manifest, container, daemon_set, host_path, nodes, on_host
from ..spec import AddOnsSpec

ADDON = labels.EFA_PLUGIN[1]


def types(spec: AddOnsSpec) -> list[str]:
    """Those of the cluster's pools."""
    return sorted({pool.hardware.shape for pool in spec.pools if pool.hardware.efa})


def wanted(spec: AddOnsSpec) -> bool:
    return bool(types(spec))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    plugin = container(
        "plugin",
        EFA,
        "10m",
        "20Mi",
        securityContext={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        volumeMounts=[{"name": "plugins", "mountPath": PLUGINS}, {"name": "devices", "mountPath": "/dev/infiniband"}],
    )
    pod = on_host(
        affinity=nodes(labels.SHAPE, "In", *types(spec)),
        tolerations=[tolerated(taint) for taint in TOLERATED],
        containers=[plugin],
        # An instance that was started without EFA has no such folder, and nothing to advertise.
        volumes=[
            host_path("plugins", PLUGINS, "Directory"),
            host_path("devices", "/dev/infiniband", "DirectoryOrCreate"),
        ],
    )
    return [daemon_set(ADDON, ADDON, pod)]

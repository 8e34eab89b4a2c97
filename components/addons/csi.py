"""The drivers that mount shares on nodes: NFS everywhere, EFS on AWS. Neither asks the API anything.

Azure Files are shares over NFS, and mounted by that driver: Azure's own would bring a controller and a credential.

No controller stands behind them: the fleet file says which volumes there are (shares.py), so nothing in the cluster
has rights over volumes, nor credentials of a cloud.
"""

from typing import NamedTuple

from components.pools import labels
from fleet.buckets import in_azure

from .images import EFS, LIVENESS, NFS, REGISTRAR, Image
from .manifests import NODE_NAME, Manifest, container, daemon_set, get, host_path, meta, nodes, on_host
from .spec import AddOnsSpec

KUBELET = "/var/lib/kubelet"
SOCKET = "unix:///csi/csi.sock"


class Driver(NamedTuple):
    """`folders` are the node's own that it keeps what it knows in, by what they are called in its container."""

    name: str
    addon: str
    image: Image
    args: tuple[str, ...]
    settings: dict[str, str]
    folders: dict[str, str]
    memory: str
    health_port: int


NFS_DRIVER = Driver(
    "nfs.csi.k8s.io",
    "csi-nfs",
    NFS,
    ("--nodeid=$(NODE_NAME)", f"--endpoint={SOCKET}", "--v=2"),
    {},
    {},
    "40Mi",
    29653,
)
EFS_DRIVER = Driver(
    "efs.csi.aws.com",
    "csi-efs",
    EFS,
    # Without an end an unmount would wait for a file system that is gone (aws-efs-csi-driver, docs/parameters.md).
    (f"--endpoint={SOCKET}", "--logtostderr", "--v=2", "--force-unmount-after-timeout=true", "--unmount-timeout=30s"),
    # Its one use of the API would be to take a taint off its node, which no node of ours has.
    {"DISABLE_TAINT_WATCHER": "true"},
    {"/var/run/efs": "/var/run/efs", "/var/amazon/efs": "/var/amazon/efs", "/etc/amazon/efs-legacy": "/etc/amazon/efs"},
    # 12 MiB a mounted volume and 30 a mount under way (its docs, "Suggestion for setting max-inflight-mount-calls").
    "250Mi",
    9809,
)


def nfs_wanted(spec: AddOnsSpec) -> bool:
    """Sites mount the shares of a cluster's home, too, if that is in Azure."""
    return spec.nfs is not None or bool(spec.azure_regions) or in_azure(spec.fleet, spec.cluster.region)


def nfs(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    return _driver(NFS_DRIVER, {})


def efs_wanted(spec: AddOnsSpec) -> bool:
    return bool(spec.aws_regions)


def efs(spec: AddOnsSpec) -> list[Manifest]:
    return _driver(EFS_DRIVER, {"affinity": nodes(labels.PLACE, "In", *spec.aws_regions)})


def _driver(driver: Driver, where: Manifest) -> list[Manifest]:
    plugin = f"{KUBELET}/plugins/{driver.name}"
    state_folders = {f"state-{n}": pair for n, pair in enumerate(driver.folders.items())}
    volumes = [
        host_path("plugin", plugin, "DirectoryOrCreate"),
        host_path("registration", f"{KUBELET}/plugins_registry", "DirectoryOrCreate"),
        host_path("kubelet", KUBELET, "Directory"),
        *(host_path(name, there, "DirectoryOrCreate") for name, (_, there) in state_folders.items()),
    ]
    pod = on_host(
        **where, containers=[_plugin(driver, state_folders), _registrar(plugin), _liveness(driver)], volumes=volumes
    )
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": meta(driver.name, driver.addon, ""),
            "spec": {
                "attachRequired": False,
                "podInfoOnMount": False,
                "volumeLifecycleModes": ["Persistent"],
                # A pod's fsGroup must not make the kubelet give a whole share to another group.
                "fsGroupPolicy": "None",
            },
        },
        daemon_set(f"{driver.addon}-node", driver.addon, pod),
    ]


def _plugin(driver: Driver, state_folders: dict[str, tuple[str, str]]) -> Manifest:
    env = [NODE_NAME, {**NODE_NAME, "name": "CSI_NODE_NAME"}]
    env += [{"name": name, "value": value} for name, value in driver.settings.items()]
    return container(
        "driver",
        driver.image,
        "10m",
        driver.memory,
        args=list(driver.args),
        env=env,
        livenessProbe=get(driver.health_port, initialDelaySeconds=30, timeoutSeconds=10, failureThreshold=5),
        securityContext={"privileged": True},  # it mounts into pods
        volumeMounts=[
            {"name": "plugin", "mountPath": "/csi"},
            {"name": "kubelet", "mountPath": KUBELET, "mountPropagation": "Bidirectional"},
            *({"name": name, "mountPath": here} for name, (here, _) in state_folders.items()),
        ],
    )


def _registrar(plugin: str) -> Manifest:
    return container(
        "registrar",
        REGISTRAR,
        "10m",
        "20Mi",
        args=["--csi-address=/csi/csi.sock", f"--kubelet-registration-path={plugin}/csi.sock"],
        securityContext=_HARMLESS,
        volumeMounts=[{"name": "plugin", "mountPath": "/csi"}, {"name": "registration", "mountPath": "/registration"}],
    )


def _liveness(driver: Driver) -> Manifest:
    return container(
        "liveness",
        LIVENESS,
        "10m",
        "20Mi",
        args=["--csi-address=/csi/csi.sock", f"--http-endpoint=127.0.0.1:{driver.health_port}", "--probe-timeout=3s"],
        securityContext=_HARMLESS,
        volumeMounts=[{"name": "plugin", "mountPath": "/csi"}],
    )


_HARMLESS = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}

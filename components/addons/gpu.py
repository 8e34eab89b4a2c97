"""GPUs as nodes advertise them: NVIDIA's device plugin, and the RuntimeClass that lets it see them all."""

from components.pools import labels

from .images import DEVICE_PLUGIN
from .manifests import NODE_CRITICAL, Manifest, container, daemon_set, host_path, meta
from .spec import AddOnsSpec

ADDON, RUNTIME = labels.DEVICE_PLUGIN[1], "nvidia"
# Those of GPU pools; those of a broken machine, for the plugin is how a GPU comes back; and that of one that is to be
# replaced, whose work may run on for a day.
TOLERATED = (*labels.TAINTS["gpu"], labels.GPU_FAILED, labels.GPU_BURN_IN, labels.ROLLING)
SETTINGS = {
    # The device nodes stand in the container's own specification, so that a reload of systemd takes none away
    # (nvidia-container-toolkit issue 48); and no container sees a GPU that it did not ask for.
    "DEVICE_LIST_STRATEGY": "cdi-cri",
    "DEVICE_ID_STRATEGY": "uuid",
    "MIG_STRATEGY": "none",
    "FAIL_ON_INIT_ERROR": "true",
    # The specification names files of the host's driver: it finds them below ROOT, and writes them as they are there.
    "NVIDIA_DRIVER_ROOT": "/",
    # For the plugin itself: every GPU, and the library that counts them.
    "NVIDIA_VISIBLE_DEVICES": "all",
    "NVIDIA_DRIVER_CAPABILITIES": "utility",
}
PLUGINS, CDI, ROOT = "/var/lib/kubelet/device-plugins", "/var/run/cdi", "/driver-root"


def wanted(spec: AddOnsSpec) -> bool:
    return any(pool.hardware.gpus for pool in spec.pools)


def manifests(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    return [runtime_class(), device_plugin()]


def runtime_class() -> Manifest:
    """containerd has the handler on GPU machines alone: components/pools/containerd.py."""
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": meta(RUNTIME, ADDON, ""),
        "handler": RUNTIME,
    }


def device_plugin() -> Manifest:
    plugin = container(
        "plugin",
        DEVICE_PLUGIN,
        "10m",
        "64Mi",
        command=["nvidia-device-plugin"],
        env=[{"name": name, "value": value} for name, value in SETTINGS.items()],
        securityContext={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        volumeMounts=[
            {"name": "plugins", "mountPath": PLUGINS},
            {"name": "cdi", "mountPath": CDI},
            {"name": "root", "mountPath": ROOT, "readOnly": True},
        ],
    )
    pod = {
        # The label is every GPU machine's from its kubelet: components/pools/labels.py.
        "nodeSelector": {labels.GPU_PRESENT: "true"},
        "tolerations": [tolerated(taint) for taint in TOLERATED],
        "priorityClassName": NODE_CRITICAL,
        "runtimeClassName": RUNTIME,
        "automountServiceAccountToken": False,
        "containers": [plugin],
        "volumes": [
            host_path("plugins", PLUGINS, "Directory"),
            host_path("cdi", CDI, "DirectoryOrCreate"),
            host_path("root", "/"),
        ],
    }
    return daemon_set(ADDON, ADDON, pod)


def tolerated(taint: labels.Taint) -> Manifest:
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect}

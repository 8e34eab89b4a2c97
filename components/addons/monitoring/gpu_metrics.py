"""What GPUs measure, by NVIDIA's dcgm-exporter, with the counters that alarms and accounts need."""

from components.pools import labels
from fleet.monitoring import SPACE

from .. import gpu
from ..images import DCGM_EXPORTER
from ..manifests import NODE_CRITICAL, NODE_NAME, Manifest, config_map, container, daemon_set, get, host_path
from ..spec import AddOnsSpec
from .targets import METRICS

ADDON = "gpu-exporter"
PORT, COUNTERS, FILE = 9400, "/etc/landbridge/counters", "counters.csv"
# Which container holds which GPU.
PODS = "/var/lib/kubelet/pod-resources"
# Upstream's own set leaves errors of memory out.
FIELDS = {
    "DCGM_FI_DEV_GPU_UTIL": ("gauge", "GPU utilization (in %)"),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("gauge", "Memory utilization (in %)"),
    "DCGM_FI_DEV_FB_USED": ("gauge", "Framebuffer memory used (in MiB)"),
    "DCGM_FI_DEV_FB_FREE": ("gauge", "Framebuffer memory free (in MiB)"),
    "DCGM_FI_DEV_GPU_TEMP": ("gauge", "GPU temperature (in C)"),
    "DCGM_FI_DEV_MEMORY_TEMP": ("gauge", "Memory temperature (in C)"),
    "DCGM_FI_DEV_POWER_USAGE": ("gauge", "Power draw (in W)"),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": ("counter", "Total energy consumption since boot (in mJ)"),
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": ("gauge", "What slows the clocks, a bit for each reason"),
    "DCGM_FI_DEV_SM_CLOCK": ("gauge", "SM clock frequency (in MHz)"),
    "DCGM_FI_DEV_MEM_CLOCK": ("gauge", "Memory clock frequency (in MHz)"),
    "DCGM_FI_DEV_XID_ERRORS": ("gauge", "Value of the last XID error encountered"),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": ("counter", "Total number of single-bit volatile ECC errors"),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("counter", "Total number of double-bit volatile ECC errors"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": ("counter", "Number of remapped rows for uncorrectable errors"),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": ("counter", "Number of remapped rows for correctable errors"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": ("gauge", "Whether remapping of rows has failed"),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("counter", "Total number of PCIe retries"),
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": ("counter", "Total number of NVLink bandwidth counters for all lanes"),
    # How much of a GPU works: its utilization says that something ran, on one of its 132 multiprocessors or on all.
    "DCGM_FI_PROF_SM_ACTIVE": ("gauge", "The ratio of cycles an SM has at least 1 warp assigned"),
}


def wanted(spec: AddOnsSpec) -> bool:
    return spec.fleet.monitoring is not None and gpu.wanted(spec)


def manifests(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    counters = {FILE: "".join(f"{name}, {kind}, {what}.\n" for name, (kind, what) in FIELDS.items())}
    pod = {
        "nodeSelector": {labels.GPU_PRESENT: "true"},
        # Those of a broken machine most of all.
        "tolerations": [gpu.tolerated(taint) for taint in gpu.TOLERATED],
        "priorityClassName": NODE_CRITICAL,
        "runtimeClassName": gpu.RUNTIME,
        "automountServiceAccountToken": False,
        "containers": [_exporter()],
        "volumes": [
            {"name": "counters", "configMap": {"name": ADDON}},
            host_path("pods", PODS),
        ],
    }
    return [config_map(ADDON, ADDON, counters, SPACE), daemon_set(ADDON, ADDON, pod, counters, space=SPACE)]


def _exporter() -> Manifest:
    return container(
        ADDON,
        DCGM_EXPORTER,
        "50m",
        "256Mi",
        command=["dcgm-exporter"],
        args=["-f", f"{COUNTERS}/{FILE}", "-a", f":{PORT}"],
        env=[
            NODE_NAME,
            {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
            # It sees all GPUs and holds none.
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
            {"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "compute,utility"},
        ],
        ports=[{"name": METRICS, "containerPort": PORT}],
        livenessProbe=get(PORT, "/health", "", initialDelaySeconds=45, periodSeconds=10, timeoutSeconds=5),
        readinessProbe=get(PORT, "/health", "", initialDelaySeconds=5, periodSeconds=10, timeoutSeconds=5),
        # The activity of multiprocessors is told to administrators of the machine alone.
        securityContext={"runAsUser": 0, "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}},
        volumeMounts=[
            {"name": "counters", "mountPath": COUNTERS, "readOnly": True},
            {"name": "pods", "mountPath": PODS, "readOnly": True},
        ],
    )

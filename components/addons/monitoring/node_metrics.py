"""What each machine measures of itself, by upstream's node_exporter."""

from components.pools import labels
from components.pools.spec import LAPTOPS
from fleet.monitoring import SPACE

from ..images import NODE_EXPORTER
from ..manifests import EVERYWHERE, NODE_CRITICAL, NODE_NAME, Manifest, container, daemon_set, get, host_path, nodes
from ..spec import AddOnsSpec
from ..system_pods import NARROW, NOBODY
from .targets import METRICS

ADDON = "node-exporter"
PORT, ROOT = 9100, "/host"
# Those by which alarms and pictures are made; upstream's own set is three times as many series.
COLLECTORS = (
    *("cpu", "diskstats", "edac", "filesystem", "infiniband", "loadavg", "mdadm", "meminfo", "nvme"),
    *("pressure", "stat", "time", "timex", "uname", "vmstat"),
)
# What is in memory, of one pod or of the kernel is no disk that fills.
_NO_DISKS = (
    *("autofs", "binfmt_misc", "bpf", "cgroup2?", "configfs", "debugfs", "devpts", "devtmpfs", "fuse.*", "hugetlbfs"),
    *("iso9660", "mqueue", "nfs4?", "nsfs", "overlay", "proc", "pstore", "securityfs", "squashfs", "sysfs", "tmpfs"),
    *("tracefs", "rpc_pipefs", "selinuxfs", "fusectl"),
)
NOT_DISKS = f"^({'|'.join(_NO_DISKS)})$"
OF_PODS = "^/(dev|proc|run|sys|var/lib/kubelet/(pods|plugins)|var/lib/containerd/.+)($|/)"


# The pods of what measures machines, and asks the API nothing.
ON_EACH_NODE: Manifest = {
    "priorityClassName": NODE_CRITICAL,
    "tolerations": EVERYWHERE,
    # Those for laptops let nobody reach a pod of theirs: components/links/laptops/firewall.py.
    "affinity": nodes(labels.KIND, "NotIn", LAPTOPS),
    "automountServiceAccountToken": False,
}


def manifests(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    pod = {
        **ON_EACH_NODE,
        # With process 1's mounts it knows the machine's disks.
        "hostPID": True,
        "securityContext": {"runAsNonRoot": True, "runAsUser": NOBODY, "runAsGroup": NOBODY},
        "containers": [_node_exporter()],
        "volumes": [host_path("root", "/")],
    }
    return [daemon_set(ADDON, ADDON, pod, space=SPACE)]


def _node_exporter() -> Manifest:
    return container(
        ADDON,
        NODE_EXPORTER,
        "10m",
        "32Mi",
        command=["/bin/node_exporter"],
        args=[
            f"--web.listen-address=:{PORT}",
            f"--path.rootfs={ROOT}",
            "--collector.disable-defaults",
            *(f"--collector.{name}" for name in COLLECTORS),
            f"--collector.filesystem.fs-types-exclude={NOT_DISKS}",
            f"--collector.filesystem.mount-points-exclude={OF_PODS}",
            "--web.disable-exporter-metrics",
        ],
        env=[NODE_NAME],
        ports=[{"name": METRICS, "containerPort": PORT}],
        readinessProbe=get(PORT, "/", "", periodSeconds=30),
        securityContext=NARROW,
        volumeMounts=[{"name": "root", "mountPath": ROOT, "readOnly": True, "mountPropagation": "HostToContainer"}],
    )

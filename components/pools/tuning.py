"""Kernel settings of workers in clusters of thousands of nodes.

Sources: OpenAI's "Scaling Kubernetes to 2,500 nodes" and Azure HPC's images (neighbour tables), node images of EKS and
image-builder (inotify, maps), the kubelet itself (what `protectKernelDefaults` asks for).
"""

from components.control_plane.units import UNITS, unit

from .spec import PoolSpec

FILE = "/etc/sysctl.d/90-landbridge.conf"
SERVICE = "landbridge-sysctl.service"
SYSCTLS = {
    # Every node and pod that is talked to has an entry. The first threshold stays the kernel's: addresses are used
    # again in clouds, and entries that are never looked through grow stale (kops issue 23395).
    "net.ipv4.neigh.default.gc_thresh2": 90_000,
    "net.ipv4.neigh.default.gc_thresh3": 100_000,
    "net.core.somaxconn": 32_768,
    "net.core.netdev_max_backlog": 16_384,
    "net.ipv4.ip_forward": 1,
    # Loose: answers may come back through the other tunnel.
    "net.ipv4.conf.all.rp_filter": 2,
    "net.ipv4.conf.default.rp_filter": 2,
    "fs.inotify.max_user_instances": 8_192,
    "fs.inotify.max_user_watches": 524_288,
    "vm.max_map_count": 1_048_576,
    "kernel.pid_max": 4_194_304,
    # What the kubelet insists on.
    "vm.overcommit_memory": 1,
    "vm.panic_on_oom": 0,
    "kernel.panic": 10,
    "kernel.panic_on_oops": 1,
    "kernel.keys.root_maxkeys": 1_000_000,
    "kernel.keys.root_maxbytes": 25_000_000,
}


def files(_spec: PoolSpec) -> dict[str, str]:
    return {
        FILE: "".join(f"{name} = {value}\n" for name, value in SYSCTLS.items()),
        f"{UNITS}/{SERVICE}": unit(
            {
                "Unit": [("Description", "Kernel settings for a large cluster"), ("Before", "kubelet.service")],
                "Service": [
                    ("Type", "oneshot"),
                    ("RemainAfterExit", "yes"),
                    ("ExecStart", f"/usr/sbin/sysctl --load={FILE}"),
                ],
            }
        ),
    }

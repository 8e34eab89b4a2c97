"""A worker's containerd 2.x: CDI on, runc by default, NVIDIA's runtime beside it for the pods that name it.

containerd's "CRI Plugin Config Guide" and "Registry configuration"; NVIDIA container toolkit, "Support for Container
Device Interface".
"""

from components.control_plane.units import UNITS, service

from .spec import PoolSpec

CONFIG = "/etc/containerd/config.toml"
# Part of every image: a registry that does not answer must not keep pods from starting.
PAUSE = "registry.k8s.io/pause:3.10.2"
IMAGES, RUNTIME = "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"
TOML = f"""\
version = 3
root = "/var/lib/containerd"
state = "/run/containerd"

[grpc]
address = "/run/containerd/containerd.sock"

[plugins."{IMAGES}"]
snapshotter = "overlayfs"
max_concurrent_downloads = 10
# Images of 20 GB from a slow registry: the default of five minutes gave up in the middle.
image_pull_progress_timeout = "30m"

[plugins."{IMAGES}".pinned_images]
sandbox = "{PAUSE}"

[plugins."{IMAGES}".registry]
config_path = "/etc/containerd/certs.d"

[plugins."{RUNTIME}"]
enable_cdi = true
cdi_spec_dirs = ["/etc/cdi", "/var/run/cdi"]

[plugins."{RUNTIME}".cni]
bin_dirs = ["/opt/cni/bin"]
conf_dir = "/etc/cni/net.d"

[plugins."{RUNTIME}".containerd]
default_runtime_name = "runc"

[plugins."{RUNTIME}".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."{RUNTIME}".containerd.runtimes.runc.options]
SystemdCgroup = true
"""
# Not the default: a container that asks for no GPU must see none, whatever its image's environment says.
NVIDIA = f"""\

[plugins."{RUNTIME}".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"

[plugins."{RUNTIME}".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
SystemdCgroup = true
"""


def config(spec: PoolSpec) -> str:
    return TOML + (NVIDIA if spec.hardware.gpus else "")


def files(spec: PoolSpec) -> dict[str, str]:
    return {
        CONFIG: config(spec),
        f"{UNITS}/containerd.service": service(
            "Containers",
            f"/usr/local/bin/containerd --config={CONFIG}",
            # Containers live on when it restarts: only its own process is ended.
            KillMode="process",
            OOMScoreAdjust="-999",
            LimitMEMLOCK="infinity",
        ),
    }

"""The Pulumi engine and the control plane's programs, built from pinned Go modules into the user's cache."""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, NamedTuple

import go_itself
from progress import Progress
from running import run

ENGINE = "v3.259.0"
_VERSION = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"


class Tool(NamedTuple):
    """`module` is a folder with go.mod, go.sum and perhaps a program; `beside` are files of modules that must lie next
    to what is built.
    """

    name: str
    module: str
    package: str
    ldflags: str
    beside: tuple[tuple[str, str], ...] = ()


ENGINE_TOOLS = (
    Tool("pulumi", "pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", f"-s -w -X {_VERSION}={ENGINE}"),
    Tool(
        "pulumi-language-python",
        "pulumi-language-python",
        "github.com/pulumi/pulumi/sdk/python/cmd/pulumi-language-python/v3",
        "-s -w",
        (
            ("github.com/pulumi/pulumi/sdk/v3", "python/cmd/pulumi-language-python-exec"),
            ("github.com/pulumi/pulumi/sdk/v3", "python/dist/pulumi-resource-pulumi-python"),
        ),
    ),
)

# Pulumi's other languages: for SDKs of the package, and programs of users' own. An official Pulumi brings them.
LANGUAGE_TOOLS = tuple(
    Tool(f"pulumi-language-{name}", module, package, "-s -w")
    for name, module, package in (
        ("nodejs", "pulumi-languages", "github.com/pulumi/pulumi/sdk/nodejs/cmd/pulumi-language-nodejs/v3"),
        ("go", "pulumi-languages", "github.com/pulumi/pulumi/sdk/go/pulumi-language-go/v3"),
        ("yaml", "pulumi-language-yaml", "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"),
    )
)

KUBERNETES = "1.36.2"
# Versions before it that local machines can run, too, and the folders of their modules. Built when first asked for.
OLDER = {"1.35.8": "kubernetes-1.35"}
SERVERS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_COMPONENT = "k8s.io/component-base/version"


def kubernetes_tools(version: str, module: str, names: tuple[str, ...]) -> tuple[Tool, ...]:
    major, minor, _ = version.split(".")
    stamps = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    ldflags = " ".join(["-s -w", *(f"-X {_COMPONENT}.{name}={value}" for name, value in stamps.items())])
    return tuple(Tool(name, module, f"k8s.io/kubernetes/cmd/{name}", ldflags) for name in names)


CONTROL_PLANE_TOOLS = (
    *kubernetes_tools(KUBERNETES, "kubernetes", (*SERVERS, "kubectl")),
    Tool("etcd", "kubernetes", "go.etcd.io/etcd/server/v3", "-s -w"),
    Tool("etcdctl", "kubernetes", "go.etcd.io/etcd/etcdctl/v3", "-s -w"),
    Tool("etcdutl", "kubernetes", "go.etcd.io/etcd/etcdutl/v3", "-s -w"),
)
# Plays status and pods of local workers. Kubernetes' module has it, too, and most of what it is made of.
WORKER_TOOLS = (Tool("kwok", "kubernetes", "sigs.k8s.io/kwok/cmd/kwok", "-s -w"),)
# The cluster's DNS for tests, with those plugins alone that our Corefiles name: the image's has every cloud's SDK.
DNS_TOOLS = (Tool("coredns", "coredns", "landbridge/tools/coredns", "-s -w"),)

# The last release that the module proxy can give; clusters run a later one, which speaks the same protocol.
AUTOSCALER_TOOLS = (Tool("cluster-autoscaler", "cluster-autoscaler", "k8s.io/autoscaler/cluster-autoscaler", "-s -w"),)

# Upstream's controllers for experiments: queues with quotas, and Jobs that begin and end together. They do not compile
# with one go.mod: each was written for another controller-runtime.
KUEUE, JOBSET = "0.17.0", "0.11.1"
QUEUE_TOOLS = tuple(
    Tool(name, name, package, f"-s -w -X sigs.k8s.io/{name}/pkg/version.GitVersion=v{version}")
    for name, version, package in (
        ("kueue", KUEUE, "sigs.k8s.io/kueue/cmd/kueue"),
        ("jobset", JOBSET, "sigs.k8s.io/jobset"),
    )
)

# What the add-on for monitoring runs. promtool tries its rules: in tests, and in `landbridge plan`.
PROMETHEUS, ALERTMANAGER, STATE_METRICS, NODE_EXPORTER = "3.16.0", "0.31.1", "2.18.0", "1.12.1"
_COMMON = "-s -w -X github.com/prometheus/common/version.Version"
_PROMETHEUS = "github.com/prometheus/prometheus/cmd"
MONITORING_TOOLS = (
    Tool("promtool", "prometheus", f"{_PROMETHEUS}/promtool", f"{_COMMON}={PROMETHEUS}"),
    Tool("prometheus", "prometheus", f"{_PROMETHEUS}/prometheus", f"{_COMMON}={PROMETHEUS}"),
    Tool(
        "alertmanager",
        "alertmanager",
        "github.com/prometheus/alertmanager/cmd/alertmanager",
        f"{_COMMON}={ALERTMANAGER}",
    ),
    Tool("kube-state-metrics", "kube-state-metrics", "k8s.io/kube-state-metrics/v2", f"{_COMMON}=v{STATE_METRICS}"),
    Tool("node_exporter", "node_exporter", "github.com/prometheus/node_exporter", f"{_COMMON}={NODE_EXPORTER}"),
)

# Where logs of pods are kept, and what brings them there from each machine: a set of its own, so that one is built anew
# without the other.
VICTORIA_LOGS = "1.52.1"
_VICTORIA = "github.com/VictoriaMetrics"
LOG_TOOLS = tuple(
    Tool(
        name,
        "victoria-logs",
        f"{_VICTORIA}/VictoriaLogs/app/{name}",
        f"-s -w -X {_VICTORIA}/VictoriaMetrics/lib/buildinfo.Version=v{VICTORIA_LOGS}",
    )
    for name in ("victoria-logs", "vlagent")
)

# A set of its own: whoever has the others need not build them again.
METRICS_SERVER = "0.9.0"
METRICS_API_TOOLS = (
    Tool(
        "metrics-server",
        "metrics-server",
        "sigs.k8s.io/metrics-server/cmd/metrics-server",
        # Its Makefile's PKG: it tells client-go's version as its own.
        f"-s -w -X k8s.io/client-go/pkg/version.gitVersion=v{METRICS_SERVER}",
    ),
)

# What add-ons run on every node, to count what they ask of the API: built when bench/addon_calls.py asks.
NODE_TOOLS = (
    Tool("flanneld", "flannel", "github.com/flannel-io/flannel", "-s -w"),
    *kubernetes_tools(KUBERNETES, "kube-proxy", ("kube-proxy",)),
    Tool(
        "netpol",
        "kube-network-policies",
        "sigs.k8s.io/kube-network-policies/cmd/kube-network-policies/standard",
        "-s -w",
    ),
)

# What node images have on top of the control plane's: containerd as the newest that our Go builds.
CONTAINERD = "2.3.5"
_STAMP = f"-s -w -X github.com/containerd/containerd/v2/version.Version=v{CONTAINERD}"
IMAGE_TOOLS = (
    *kubernetes_tools(KUBERNETES, "kubelet", ("kubelet",)),
    *(
        Tool(name, "containerd", f"github.com/containerd/containerd/v2/cmd/{name}", _STAMP)
        for name in ("containerd", "containerd-shim-runc-v2", "ctr")
    ),
)

# NVIDIA's container toolkit, in images for GPUs.
TOOLKIT = "1.20.1"
_NVIDIA = "github.com/NVIDIA/nvidia-container-toolkit"
TOOLKIT_TOOLS = tuple(
    Tool(
        name,
        "nvidia-container-toolkit",
        f"{_NVIDIA}/cmd/{name}",
        # What it finds of the driver's library, it looks for when it calls it: its Makefile's flag.
        f"-s -w -extldflags=-Wl,-z,lazy -X {_NVIDIA}/internal/info.version={TOOLKIT}",
    )
    for name in ("nvidia-ctk", "nvidia-cdi-hook", "nvidia-container-runtime")
)


def version(name: str) -> str:
    """That of a program in node images."""
    if name.startswith("etcd"):
        required = Path(__file__).with_name("kubernetes") / "go.mod"
        return str(re.findall(r"go.etcd.io/etcd/server/v3 v(\S+)", required.read_text())[0])
    if name.startswith("nvidia-"):
        return TOOLKIT
    return CONTAINERD if name.startswith(("containerd", "ctr")) else KUBERNETES


def build(tools: tuple[Tool, ...], name: str, folder: Path, cache: Path, logs: Path, progress: Progress) -> Path:
    """The cache folder that holds the tools, all in one: Pulumi looks for its Python host beside itself.

    Two set-ups at once build them once.
    """
    home = home_of(tools, name, folder, cache)
    if home.exists():
        progress.reused(", ".join(tool.name for tool in tools))
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    with (cache / "tools" / f"{name}.lock").open("w") as lock:
        _locked(lock, name, progress)
        if not home.exists():
            go = go_itself.find(cache, folder, logs, progress)
            making = making_of(home)
            for old in home.parent.glob(f"{making_of(home.with_name(name)).name}-*"):
                if old != making:
                    shutil.rmtree(old)
            making.mkdir(exist_ok=True)
            for tool in tools:
                if (making / tool.name).exists():
                    progress.reused(tool.name)
                    continue
                with progress.step(step_of(tool)), tempfile.TemporaryDirectory(dir=making, prefix=".") as temporary:
                    _build(tool, folder / tool.module, Path(temporary), go, logs)
                    # The program comes last: where it is, what must lie beside it is, too.
                    for file in sorted(Path(temporary).iterdir(), key=lambda file: file.name == tool.name):
                        file.rename(making / file.name)
            for left in making.glob(".*"):
                shutil.rmtree(left)
            making.rename(home)
    return home


def home_of(tools: tuple[Tool, ...], name: str, folder: Path, cache: Path) -> Path:
    return cache / "tools" / f"{name}-{key(tools, folder)}"


def making_of(home: Path) -> Path:
    """Where a set's programs are until all of them are there; one that is stopped leaves those that it has."""
    return home.with_name(f".making-{home.name}")


def step_of(tool: Tool) -> str:
    return f"{tool.name} from source"


def _locked(lock: IO[str], name: str, progress: Progress) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        with progress.step(f"another set-up builds {name}: waiting for it"):
            fcntl.flock(lock, fcntl.LOCK_EX)


# No parts of Tool: keys of all would change. flannel's backend udp has no other way on amd64, as its Makefile says.
# What asks NVIDIA's library finds it in C alone.
WITH_C = ("flanneld", "nvidia-ctk", "nvidia-cdi-hook", "nvidia-container-runtime")
# Of some thirty clouds the autoscaler needs none: it asks our service.
TAGS = {
    "cluster-autoscaler": "externalgrpc",
    # Nor do Prometheus and its tool: they find their targets by the API server.
    **dict.fromkeys(("prometheus", "promtool"), "remove_all_sd,enable_kubernetes_sd,enable_dns_sd"),
}


def _build(tool: Tool, module: Path, making: Path, go: str, logs: Path) -> None:
    env = {
        **os.environ,
        "GOFLAGS": "-mod=readonly",
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "1" if tool.name in WITH_C else "0",
    }
    output = str(making / tool.name)
    tags = ["-tags", TAGS[tool.name]] if tool.name in TAGS else []
    command = [go, "build", "-trimpath", *tags, "-ldflags", tool.ldflags, "-o", output, tool.package]
    run(command, logs / f"{tool.name}.log", cwd=module, env=env)
    for needed, file in tool.beside:
        listed = run([go, "mod", "download", "-json", f"{needed}@{ENGINE}"], logs / "module.log", cwd=module, env=env)
        source = Path(json.loads(listed)["Dir"]) / file
        shutil.copyfile(source, making / source.name)
        (making / source.name).chmod(0o755)


def key(tools: tuple[Tool, ...], folder: Path) -> str:
    """What the tools are built from: another module version, source, flag, Go or machine is another key."""
    files = [folder / tool.module / file for tool in tools for file in ("go.mod", "go.sum")]
    files += sorted({file for tool in tools for file in (folder / tool.module).rglob("*.go")})
    parts = [file.read_bytes() for file in [*files, folder / "go.lock"]]
    parts += [TAGS[tool.name].encode() for tool in tools if tool.name in TAGS]
    parts += [repr(tools).encode(), platform.machine().encode(), sys.platform.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

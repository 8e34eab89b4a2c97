"""Which programs a set-up brings, and links to them; of some, an official one on the PATH is taken as it is."""

import os
from collections.abc import Mapping
from pathlib import Path

import go_itself
import go_tools
import official
from go_tools import Tool, build
from progress import Progress
from running import SetupError

# What `landbridge` calls on real clouds.
KUBECTL_TOOLS = tuple(tool for tool in go_tools.CONTROL_PLANE_TOOLS if tool.name == "kubectl")
REAL = {"engine": go_tools.ENGINE_TOOLS, "kubectl": KUBECTL_TOOLS}
LOCAL = {
    "engine": go_tools.ENGINE_TOOLS,
    "control-plane": go_tools.CONTROL_PLANE_TOOLS,
    "workers": go_tools.WORKER_TOOLS,
    "dns": go_tools.DNS_TOOLS,
    "autoscaler": go_tools.AUTOSCALER_TOOLS,
    "queues": go_tools.QUEUE_TOOLS,
    "monitoring": go_tools.MONITORING_TOOLS,
    "logs": go_tools.LOG_TOOLS,
    "metrics-api": go_tools.METRICS_API_TOOLS,
}
Sets = Mapping[str, tuple[Tool, ...]]
# Set → who finds its programs elsewhere.
OFFICIAL = {"engine": official.pulumi, "kubectl": official.kubectl}
MODULES = Path(__file__).parent


def elsewhere(name: str, programs: Path, cache: Path) -> Path | None:
    """The folder of a set's official programs on the PATH, or of those that another set has brought."""
    find = OFFICIAL.get(name)
    if find and (there := find(os.environ.get("PATH", ""), programs / "bin")):
        return there
    if name != "kubectl":
        return None
    whole = go_tools.home_of(go_tools.CONTROL_PLANE_TOOLS, "control-plane", MODULES, cache)
    return whole if whole.exists() else None


def steps(sets: Sets, programs: Path, cache: Path) -> list[str]:
    """What set_up has to do, in its order."""
    found = []
    for name, tools in sets.items():
        home = go_tools.home_of(tools, name, MODULES, cache)
        if home.exists() or elsewhere(name, programs, cache):
            continue
        found += [go_tools.step_of(tool) for tool in tools if not (go_tools.making_of(home) / tool.name).exists()]
    return [*go_itself.steps(cache, MODULES), *found] if found else []


def set_up(sets: Sets, programs: Path, cache: Path, logs: Path, progress: Progress) -> None:
    """Links all sets' tools into programs/bin, building what the cache lacks. Raises SetupError."""
    folder = programs / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name, tools in sets.items():
        if there := elsewhere(name, programs, cache):
            for tool in tools:
                link(folder / tool.name, there / tool.name)
            progress.reused(f"{', '.join(tool.name for tool in tools)} in {there}")
        else:
            _linked(folder, tools, name, cache, logs, progress)


def set_up_older(version: str, programs: Path, cache: Path, logs: Path, progress: Progress) -> None:
    """Links the servers of an older Kubernetes into programs/kubernetes/VERSION. Raises SetupError."""
    if version not in go_tools.OLDER:
        raise SetupError(f"Kubernetes {version} is none of {', '.join(go_tools.OLDER)}, which can be built")
    tools = go_tools.kubernetes_tools(version, go_tools.OLDER[version], go_tools.SERVERS)
    _linked(programs / "kubernetes" / version, tools, f"kubernetes-{version}", cache, logs, progress)


def set_up_add_ons(programs: Path, cache: Path, logs: Path, progress: Progress) -> None:
    """Links the programs of add-ons into programs/add-ons. Raises SetupError."""
    _linked(programs / "add-ons", go_tools.NODE_TOOLS, "add-ons", cache, logs, progress)


def set_up_languages(programs: Path, cache: Path, logs: Path, progress: Progress) -> None:
    """Links Pulumi's hosts of other languages than Python into programs/languages. Raises SetupError."""
    _linked(programs / "languages", go_tools.LANGUAGE_TOOLS, "languages", cache, logs, progress)


def set_up_image(programs: Path, cache: Path, logs: Path, progress: Progress, *, gpus: bool = False) -> None:
    """Links the programs of node images into programs/image; those for GPUs want a C compiler. Raises SetupError."""
    for name, tools in {"image": go_tools.IMAGE_TOOLS, **({"toolkit": go_tools.TOOLKIT_TOOLS} if gpus else {})}.items():
        _linked(programs / "image", tools, name, cache, logs, progress)


def _linked(folder: Path, tools: tuple[Tool, ...], name: str, cache: Path, logs: Path, progress: Progress) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in build(tools, name, MODULES, cache, logs, progress).iterdir():
        link(folder / file.name, file)


def link(place: Path, target: Path) -> None:
    """Replaces whatever is there in one step."""
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.symlink_to(target)
    temporary.replace(place)

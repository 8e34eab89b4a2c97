"""Which pods are real processes on local machines, and by which programs; all others are played by kwok.

A pod of a run is real whatever its images are. Where one of them is in the table, so is its program; any other stands
for the machine's own root, and its command begins with any program that is there.
"""

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import installation
from local.machines.commands import PATH
from local.machines.root import REPOSITORY

# This program's interpreter, with the packages that services need beside it.
PYTHON = sys.executable
PLAYED = REPOSITORY / "local/workers/played"
LIBRARIES = PLAYED / "libraries"
HINT = f"{installation.SETUP_LOCAL} builds it, and machines get it when they start"
# Of pods that do an experiment's work; its value is the run's name.
RUN_LABEL = "landbridge.dev/run"
# Of pods that only pretend to, for so long: crowds that would not fit the laptop.
RUNS_FOR = "local.landbridge.dev/runs-for"
# How the image's id begins in the status of what this kubelet runs; kwok's is empty.
BY_ITSELF = "local://"
# An image that this machine does not have has this interpreter as its `python`, and all that the machine has.
OWN_PATH = f"{Path(PYTHON).parent}:{PATH}"


class Image(NamedTuple):
    """Word that begins a command in the image → program of the machine, and the image's own variables."""

    programs: Mapping[str, str]
    environment: Mapping[str, str] = {}


# Of our own services, and of what stands for a program that can't be built.
SERVICES = {
    # An interpreter finds its packages by the name that it was called by.
    "PATH": OWN_PATH,
    # Libraries of drivers that no local machine has come first.
    "PYTHONPATH": f"{LIBRARIES}:{REPOSITORY}",
    "PYTHONDONTWRITEBYTECODE": "1",
}
IMAGES = {
    "registry.k8s.io/autoscaling/cluster-autoscaler": Image(
        dict.fromkeys(("./cluster-autoscaler", "/cluster-autoscaler"), "cluster-autoscaler")
    ),
    "registry.k8s.io/kueue/kueue": Image({"/manager": "kueue"}),
    "registry.k8s.io/jobset/jobset": Image({"/manager": "jobset"}),
    "quay.io/prometheus/prometheus": Image({"/bin/prometheus": "prometheus", "/bin/promtool": "promtool"}),
    "quay.io/prometheus/alertmanager": Image({"/bin/alertmanager": "alertmanager"}),
    "quay.io/prometheus/node-exporter": Image({"/bin/node_exporter": "node_exporter"}),
    "registry.k8s.io/kube-state-metrics/kube-state-metrics": Image({"/kube-state-metrics": "kube-state-metrics"}),
    "quay.io/victoriametrics/victoria-logs": Image({"/victoria-logs-prod": "victoria-logs"}),
    "quay.io/victoriametrics/vlagent": Image({"/vlagent-prod": "vlagent"}),
    "registry.k8s.io/metrics-server/metrics-server": Image({"/metrics-server": "metrics-server"}),
    # Its own shell finds the machine's valkey-server: see supervisor/programs.py.
    "docker.io/valkey/valkey": Image({"sh": "sh", "valkey-server": "valkey-server"}),
    "nvcr.io/nvidia/k8s/dcgm-exporter": Image({"dcgm-exporter": str(PLAYED / "dcgm-exporter")}, SERVICES),
    "localhost/landbridge-services": Image({"python3": PYTHON}, SERVICES),
}


def repository(image: str) -> str:
    """Without tag and digest."""
    name, _, last = image.partition("@")[0].rpartition("/")
    return f"{name}/{last.partition(':')[0]}" if name else last.partition(":")[0]


def of(image: str) -> Image | None:
    """None is the machine's own root."""
    return IMAGES.get(repository(image))


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Init containers first."""
    yield from pod["spec"].get("initContainers") or []
    yield from pod["spec"]["containers"]


def of_run(pod: dict[str, Any]) -> bool:
    meta = pod["metadata"]
    return RUN_LABEL in (meta.get("labels") or {}) and RUNS_FOR not in (meta.get("annotations") or {})


def real(pod: dict[str, Any]) -> bool:
    """Whether this kubelet runs the pod itself: it is a run's, or all its images are in the table.

    Programs that lack don't count. One that it has begun stays its own, whatever is written on it later.
    """
    return of_run(pod) or all(of(one["image"]) for one in containers(pod)) or begun(pod)


def begun(pod: dict[str, Any]) -> bool:
    told = (pod.get("status") or {}).get("containerStatuses") or []
    return any(one["imageID"].startswith(BY_ITSELF) for one in told)


def program(image: str, word: str) -> str | None:
    """The program's path on this machine, or None if it is not there. Raises KeyError for a word of no program.

    Where the image is none of the table it is the word itself: who starts it looks for it where the container sees.
    """
    known = of(image)
    return shutil.which(known.programs[word], path=PATH) if known else word


def any_program(image: str, word: str) -> str | None:
    """The same, but a word of no program of the image is looked for where the container sees, too."""
    known = of(image)
    return program(image, word) if known and word in known.programs else word


def missing(pod: dict[str, Any]) -> dict[str, str]:
    """Container → what to say of the program that it needs and that this machine lacks."""
    return {
        one["name"]: f"the program {known.programs[one['command'][0]]} is not on this machine: {HINT}"
        for one in containers(pod)
        if (known := of(one["image"])) and program(one["image"], one["command"][0]) is None
    }

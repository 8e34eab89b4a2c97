"""Images whose containers are real processes on local machines; pods with any other image are played by kwok."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from local.machines.commands import PATH
from local.machines.root import REPOSITORY

# This program's interpreter, with the packages that services need beside it.
PYTHON = sys.executable
HINT = "`make setup` builds it, and machines get it when they start"


class Image(NamedTuple):
    """Word that begins a command in the image → program of the machine, and the image's own variables."""

    programs: Mapping[str, str]
    environment: Mapping[str, str] = {}


IMAGES = {
    "registry.k8s.io/autoscaling/cluster-autoscaler": Image(
        dict.fromkeys(("./cluster-autoscaler", "/cluster-autoscaler"), "cluster-autoscaler")
    ),
    "registry.k8s.io/kueue/kueue": Image({"/manager": "kueue"}),
    "registry.k8s.io/jobset/jobset": Image({"/manager": "jobset"}),
    "localhost/landbridge-services": Image(
        {"python3": PYTHON},
        {
            # An interpreter finds its packages by the name that it was called by.
            "PATH": f"{Path(PYTHON).parent}:{PATH}",
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    ),
}


def repository(image: str) -> str:
    """Without tag and digest."""
    name, _, last = image.partition("@")[0].rpartition("/")
    return f"{name}/{last.partition(':')[0]}" if name else last.partition(":")[0]


def of(image: str) -> Image:
    return IMAGES[repository(image)]


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Init containers first."""
    yield from pod["spec"].get("initContainers") or []
    yield from pod["spec"]["containers"]


def real(pod: dict[str, Any]) -> bool:
    """Whether this kubelet runs the pod itself: all its images are in the table. Programs that lack don't count."""
    return all(repository(one["image"]) in IMAGES for one in containers(pod))


def program(image: str, word: str) -> str | None:
    """The program's path on this machine, or None if it is not there. Raises KeyError for a word of no program."""
    return shutil.which(of(image).programs[word], path=PATH)


def missing(pod: dict[str, Any]) -> dict[str, str]:
    """Container → what to say of the program that it needs and that this machine lacks."""
    return {
        one["name"]: f"the program {of(one['image']).programs[one['command'][0]]} is not on this machine: {HINT}"
        for one in containers(pod)
        if program(one["image"], one["command"][0]) is None
    }

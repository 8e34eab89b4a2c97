"""What baking node images needs here: `python3 tools/image.py`, which `landbridge image bake` calls by itself.

The system's packages are installed where root asks, and the programs that images have are built once. With `--gpus`
those of images for GPUs are, too, with `--services VERSION` what our services have beside that Python, with `--tests`
what tests run beside.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path

import building
import debian
import go_tools
import service_packages
import sets
from progress import Progress

from images.running import BOOT_NEEDED, NEEDED

# Read by `landbridge image bake`: programs of images → their versions, as they were built.
VERSIONS = "versions.json"
# What guests of the local cloud run beside what a boot test runs: local/machines/guest.py.
GUESTS = {"dnsmasq": "dnsmasq-base"}
# What tests run beside.
TESTS = {"packer": "packer", "gpg": "gnupg", "docker-registry": "docker-registry"}
SERVICES = ("docker-registry",)
# What the Go programs for GPUs are built with, beside Go.
COMPILER = {"gcc": "gcc", "/usr/include/stdlib.h": "libc6-dev"}


def set_up(
    programs: Path, cache: Path, logs: Path, progress: Progress, *, gpus: bool, python: str | None, tests: bool
) -> None:
    """Raises SetupError."""
    more = {**GUESTS, **(COMPILER if gpus else {}), **(TESTS if tests else {})}
    missing = debian.missing({**NEEDED, **BOOT_NEEDED, **more})
    if missing and debian.can_install():
        with progress.step(f"packages that make images: {', '.join(missing)}"):
            debian.install(missing, logs, SERVICES)
    elif missing:
        progress.say(f"Bakes need packages of the system: sudo apt-get install {' '.join(missing)}")
    sets.set_up_image(programs, cache, logs, progress, gpus=gpus)
    tools = (*go_tools.IMAGE_TOOLS, *go_tools.TOOLKIT_TOOLS, *go_tools.CONTROL_PLANE_TOOLS)
    names = [tool.name for tool in tools]
    versions = {name: go_tools.version(name) for name in names}
    (programs / "image" / VERSIONS).write_text(json.dumps(versions, indent=1) + "\n")
    if python:
        service_packages.set_up(programs, python, logs, progress)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", action="store_true")
    parser.add_argument("--services", dest="python", metavar="VERSION")
    parser.add_argument("--tests", action="store_true")
    sys.exit(building.built("What node images need", partial(set_up, **vars(parser.parse_args()))))

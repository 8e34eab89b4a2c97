"""What baking node images needs here: `python3 tools/image.py`, standard library only.

The system's packages are installed where root asks, and the programs that images have are built once.
"""

import sys
from pathlib import Path

import building
import debian
import go_tools
from progress import Progress

# What a bake and a boot test run → its package, as Debian and Ubuntu call it.
NEEDED = {
    "mmdebstrap": "mmdebstrap",
    "sfdisk": "fdisk",
    "mkfs.fat": "dosfstools",
    "mcopy": "mtools",
    "qemu-img": "qemu-utils",
    "qemu-system-x86_64": "qemu-system-x86",
    "/usr/share/OVMF/OVMF_CODE_4M.fd": "ovmf",
    "ssh": "openssh-client",
}


def set_up(root: Path, cache: Path, logs: Path, progress: Progress) -> None:
    missing = debian.missing(NEEDED)
    if missing and debian.can_install():
        with progress.step(f"packages that make images: {', '.join(missing)}"):
            debian.install(missing, logs)
    elif missing:
        progress.say(f"Bakes need packages of the system: sudo apt-get install {' '.join(missing)}")
    go_tools.set_up_image(root, cache, logs, progress)


if __name__ == "__main__":
    sys.exit(building.built("What node images need", set_up))

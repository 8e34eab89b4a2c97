"""Whether this machine has NVIDIA's GPUs, or with `switches` NVSwitches: units of images ask, and do not fail without.

Exit status as ExecCondition= wants it (systemd.service(5)): 0 goes on, 1 leaves the unit out.
"""

import sys
from pathlib import Path

DEVICES = "sys/bus/pci/devices"
VENDOR = "0x10de"
# PCI classes (pciids): 3D and VGA controllers; a bridge of another kind is what NVSwitches are.
CLASSES = {"gpus": ("0x0302", "0x0300"), "switches": ("0x0680",)}


def found(what: str, root: Path) -> int:
    """How many of them."""
    devices = (root / DEVICES).glob("*")
    return sum(
        (one / "vendor").read_text().strip() == VENDOR and (one / "class").read_text().startswith(CLASSES[what])
        for one in devices
    )


if __name__ == "__main__":
    sys.exit(0 if found(sys.argv[1] if len(sys.argv) > 1 else "gpus", Path("/")) else 1)

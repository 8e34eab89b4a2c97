"""What machine this is, by the file that whoever starts it lays onto its disk; and amounts as nodes tell them."""

import json
import re
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path("/etc/landbridge-local/hardware.json")
# Its folder is empty whenever the machine starts.
BOOT = Path("/run/landbridge-boot-id")
GI, MI = 1 << 30, 1 << 20
# Firmware and kernel keep their part: a kubelet sees less memory than the type is sold with. Karpenter reckons with so
# much ("vmMemoryOverheadPercent").
SEEN_OF_MEMORY = Decimal("0.925")
BINARY = {"Ki": 1 << 10, "Mi": MI, "Gi": GI, "Ti": 1 << 40}
AMOUNT = re.compile(r"(\d+)(Ki|Mi|Gi|Ti|m|)", re.ASCII)


class Hardware(NamedTuple):
    """`kubernetes` is the image's version; `architecture` as Go names it; memory as it is sold.

    `efa` are network cards with EFA, `rdma` how many pods may share the InfiniBand or RoCE that there is. `boot` is of
    this start of the machine.
    """

    kubernetes: str
    architecture: str
    cpus: int
    memory_mib: int
    disk_gib: int
    gpus: int
    efa: int = 0
    rdma: int = 0
    boot: str = ""

    @property
    def memory_bytes(self) -> int:
        """As the kubelet sees it."""
        return int(self.memory_mib * SEEN_OF_MEMORY) * MI


def read() -> Hardware:
    """Raises OSError, or ValueError for a file of another form."""
    fields = json.loads(FILE.read_text())
    if not set(Hardware._fields) - set(Hardware._field_defaults) <= set(fields) <= set(Hardware._fields):
        raise ValueError(f"{FILE} has {', '.join(sorted(fields))}, not {', '.join(Hardware._fields)}")
    return Hardware(**fields, boot=boot())


def boot() -> str:
    """The same for every kubelet until the machine starts anew: a kernel's own is the host's."""
    if not BOOT.exists():
        BOOT.write_text(str(uuid.uuid4()))
    return BOOT.read_text()


def text(fields: dict[str, Any], kubernetes: str) -> str:
    """The file's, of what the machine has and its image's version."""
    return json.dumps({**fields, "kubernetes": kubernetes}, indent=1, sort_keys=True) + "\n"


def amount(text: str) -> Decimal:
    """A quantity: cores, bytes, or a count. Raises ValueError for a form that bundles do not use."""
    found = AMOUNT.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is no amount such as 200m, 512Mi or 110")
    number = Decimal(found[1])
    return number / 1000 if found[2] == "m" else number * BINARY.get(found[2], 1)


def in_bytes(number: int) -> str:
    """The form in which the API shows it: the largest unit that leaves a whole number."""
    for suffix, size in reversed(BINARY.items()):
        if number and number % size == 0:
            return f"{number // size}{suffix}"
    return str(number)


def in_cores(number: Decimal) -> str:
    return str(int(number)) if number == int(number) else f"{int(number * 1000)}m"

"""Whether this machine is fit for work: its clock, disks, shares, links and GPUs, and what else its owners look at.

Each look is one of seconds, and all go side by side.
"""

import contextlib
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import node_looks

# Of one look. What takes longer, as a mount whose server is away, is no machine to begin on.
SECONDS = 4.0
# Programs of a machine's owners: one that ends with another code than 0 says why in its last line.
OWN = Path("/etc/landbridge/look.d")
GPUS = Path("/proc/driver/nvidia/gpus")
NICS, INFINIBAND = Path("/sys/class/net"), Path("/sys/class/infiniband")
UP, ACTIVE = 0x1, "4: ACTIVE"
# chronyc's leap status in its CSV form, the 14th field (chronyc(1), "tracking").
LEAP, UNSYNCHRONISED = 13, "Not synchronised"
FINE = ("None", "N/A", "")
MOST_SIGNS = 200


class Trouble(Exception):
    """A look that did not come to an end; says why."""


def ran(words: Sequence[str], seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    """Raises Trouble when it does not end: it is left to itself, for what waits in the kernel can't be killed."""
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Trouble(f"{Path(words[0]).name} has not ended after {seconds:.0f} s") from None
    return subprocess.CompletedProcess(words, process.returncode, out)


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:MOST_SIGNS] if lines else "it said nothing"


class Fitness:
    """Links are compared with those that were there when it began: a port without a cable is no broken one."""

    def __init__(self) -> None:
        self.links = set(links())
        self.looks: dict[str, Callable[[], Iterator[str]]] = {
            "clock": clock,
            "disks": disks,
            "shares": shares,
            "links": self.lost,
            "GPUs": gpus,
        }

    def look(self) -> list[str]:
        """What is wrong, in words: nothing on a machine that is fit."""
        looks = [*self.looks.values(), *(lambda one=one: own(one) for one in programs())]
        with ThreadPoolExecutor(len(looks)) as threads:
            return [words for found in threads.map(told, looks) for words in found]

    def lost(self) -> Iterator[str]:
        now = set(links())
        yield from (f"{one} is down" for one in sorted(self.links - now))
        self.links |= now


def told(look: Callable[[], Iterator[str]]) -> list[str]:
    try:
        return [*look()]
    except (Trouble, OSError, ValueError) as error:
        return [str(error)]


def clock() -> Iterator[str]:
    """A machine without chrony has its time from somebody else."""
    if not (program := shutil.which("chronyc")):
        return
    done = ran([program, "-c", "tracking"])
    fields = done.stdout.strip().split(",")
    if done.returncode:
        yield f"the clock follows no other one: {last_line(done.stdout)}"
    elif len(fields) > LEAP and fields[LEAP] == UNSYNCHRONISED:
        yield "the clock follows no other one"


def disks() -> Iterator[str]:
    for found in node_looks.read_only(()).values():
        if found is not None:
            yield found.message


def shares() -> Iterator[str]:
    """Each is asked by a process of its own: one whose server is away keeps whoever asks."""
    points = [one.point for one in node_looks.mounts() if one.kind in node_looks.SHARES]
    with ThreadPoolExecutor(max(1, len(points))) as threads:
        yield from filter(None, threads.map(_share, points))


def _share(point: str) -> str:
    try:
        done = ran(["stat", "--file-system", "--", point], SECONDS - 1)
    except Trouble:
        return f"the share at {point} does not answer"
    return f"the share at {point}: {last_line(done.stdout)}" if done.returncode else ""


def links() -> Iterator[str]:
    """Cards that are switched on and have a cable, and active ports of InfiniBand; nothing that the kernel made up."""
    for card in sorted(NICS.glob("*/device")):
        with contextlib.suppress(OSError, ValueError):
            flags, carrier = ((card.parent / name).read_text() for name in ("flags", "carrier"))
            if int(flags, 16) & UP and carrier.strip() == "1":
                yield card.parent.name
    for port in sorted(INFINIBAND.glob("*/ports/*/state")):
        if port.read_text().strip() == ACTIVE:
            yield f"{port.parts[-4]} port {port.parts[-2]}"


def gpus() -> Iterator[str]:
    """What the driver's own tool says of each that the driver has found."""
    known = [*GPUS.iterdir()] if GPUS.is_dir() else []
    if not known:
        return
    done = ran([shutil.which("nvidia-smi") or "nvidia-smi", "-q", "-x"])
    if done.returncode:
        raise Trouble(f"nvidia-smi failed ({done.returncode}): {last_line(done.stdout)}")
    try:
        root = ET.fromstring(done.stdout)  # noqa: S314 - of the machine's own driver
    except ET.ParseError as error:
        raise Trouble(f"nvidia-smi: no whole XML document ({error})") from None
    found = root.findall("gpu")
    if len(found) != len(known):
        yield f"nvidia-smi tells of {len(found)} GPUs, and there are {len(known)}"
    for one in found:
        where = one.get("id", "")
        if (action := _text(one, "gpu_recovery_action")) not in FINE:
            yield f"GPU {where} wants: {action}"
        if _text(one, "remapped_rows/remapped_row_failure") == "Yes":
            yield f"GPU {where} has rows of memory that could not be replaced"


def _text(one: ET.Element, path: str) -> str:
    return (one.findtext(path) or "").strip()


def programs() -> list[Path]:
    found = sorted(OWN.iterdir()) if OWN.is_dir() else []
    return [one for one in found if one.is_file() and os.access(one, os.X_OK)]


def own(program: Path) -> Iterator[str]:
    done = ran([str(program)])
    if done.returncode:
        yield f"{program.name}: {last_line(done.stdout)}"

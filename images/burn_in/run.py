"""Runs the tests on a machine, one tool at a time, by whatever way there is to it: this machine, SSH, or a test's own.

Every tool has a time limit on the machine itself (`timeout`), so nothing is left running there when the way breaks.
"""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from . import judge, judge_load, smi, tools
from .findings import DCGM, MACHINE, Finding, Kind, Result, merged, verdict
from .judge import Looked, Pci, Trouble
from .smi import Machine, Unreadable
from .thresholds import Thresholds

# GNU timeout's codes for time that ran out, and a shell's for a program that is not there.
LATE, MISSING = (124, 137), 127
# nvidia-smi's own where the driver is not loaded or sees no GPU (its manual page, "RETURN VALUE").
NO_DRIVER = (6, 9, 12)
BUSY = 75
LOCK = "/run/lock/landbridge-gpu-burn-in"
NVIDIA, DISPLAYS, BRIDGE = "0x10de", ("0x0300", "0x0302"), "0x0680"
PCI = 'for one in /sys/bus/pci/devices/*; do echo "$(cat $one/vendor) $(cat $one/class)"; done'
LOOK_SECONDS, COPY_SECONDS, REDUCE_SECONDS, MESSAGE_CHARS = 60, 300, 600, 160
# Level 3 takes a quarter of an hour on eight GPUs; level 4 up to two hours (DCGM's user guide).
DIAG_SECONDS = {1: 300, 2: 900, 3: 2700, 4: 3 * 3600}
# Its messages in English; and GPUs counted as nvidia-smi does, by PCI address, not by speed.
ENVIRONMENT = ("LC_ALL=C", "CUDA_DEVICE_ORDER=PCI_BUS_ID")


class Ran(NamedTuple):
    code: int
    out: str
    err: str


# argv and the seconds after which it ends itself → how it ended. Raises whatever the way raises when it is no way.
Run = Callable[[Sequence[str], float], Ran]
Say = Callable[[str], None]
T = TypeVar("T")


class NoGpu(NamedTuple):
    """There was nothing to test, which is no failure of a part: nothing is concluded from it."""

    why: str


def bounded(argv: Sequence[str], seconds: float, *, alone: bool = False) -> list[str]:
    """The command with its limit; `alone` ones wait for nobody, and are refused while another one runs."""
    lock = ["flock", "--nonblock", "--conflict-exit-code", str(BUSY), LOCK] if alone else []
    return ["env", *ENVIRONMENT, *lock, "timeout", "--kill-after=10", f"{seconds:.0f}", *argv]


class Tools:
    """The machine's tools, each as a reading: a value, or why there is none."""

    def __init__(self, run: Run, say: Say) -> None:
        self.run, self.say = run, say

    def read(
        self, argv: Sequence[str], parse: Callable[[str], T], seconds: float = LOOK_SECONDS, *, load: bool = False
    ) -> tuple[T | Trouble, int]:
        """The value and the exit code."""
        if load:
            self.say(f"{argv[0]}: up to {seconds / 60:.0f} min")
        ran = self.run(bounded(argv, seconds, alone=load), seconds)
        if ran.code == MISSING:
            return Trouble(f"{argv[0]} is not installed"), ran.code
        if ran.code in LATE:
            return Trouble(f"{argv[0]} did not end within {seconds:.0f} s", failed=True), ran.code
        if load and ran.code == BUSY:
            return Trouble("another burn-in is at it"), ran.code
        try:
            return parse(ran.out), ran.code
        except Unreadable as unreadable:
            why = str(unreadable) if ran.code == 0 else f"{argv[0]} failed ({ran.code}): {last(ran)}"
            return Trouble(why), ran.code

    def loaded(
        self,
        argv: Sequence[str],
        parse: Callable[[str], T],
        seconds: float,
        judged: Callable[[T | Trouble], Iterable[Finding]],
    ) -> list[Finding]:
        """Findings of a tool that puts load on GPUs; its exit code counts where all that it said was good."""
        value, code = self.read(argv, parse, seconds, load=True)
        found = list(judged(value))
        if code and all(one.outcome in ("passed", "left out") for one in found):
            found.append(
                Finding(MACHINE, None, found[0].test, f"exit code {code} of {argv[0]}", "exit code 0", "error")
            )
        return found


def last(ran: Ran) -> str:
    lines = [line.strip() for line in (ran.err.strip() or ran.out.strip()).splitlines() if line.strip()]
    return lines[-1][:MESSAGE_CHARS] if lines else "it said nothing"


def pci(text: str) -> Pci:
    """Lines of vendor and class. A GPU is a display controller, a switch a bridge of its kind."""
    mine = [line.split()[1] for line in text.splitlines() if line.startswith(f"{NVIDIA} ")]
    if not text.strip():
        raise Unreadable("there is no PCI device")
    return Pci(sum(one.startswith(DISPLAYS) for one in mine), sum(one.startswith(BRIDGE) for one in mine))


def version(text: str) -> str:
    """Of `Fabric Manager version is : 580.178.04`."""
    found = re.search(r"[Vv]ersion is\s*:\s*([\d.]+)", text)
    if not found:
        raise Unreadable("nv-fabricmanager: it did not tell its version")
    return found[1]


class Begun(NamedTuple):
    """The first look: what is on the bus, what the driver tells, and nvidia-smi's exit code."""

    bus: Pci | Trouble
    machine: Machine | Trouble
    code: int


def begin(with_: Tools) -> Begun | NoGpu:
    """Whether there is anything to test: no GPU, or none that a driver knows of, says nothing of any part."""
    with_.say("what nvidia-smi and the kernel's log say …")
    bus, _ = with_.read(["sh", "-c", PCI], pci)
    machine, code = with_.read(["nvidia-smi", "-q", "-x"], smi.parse)
    if isinstance(machine, Machine) and machine.gpus:
        return Begun(bus, machine, code)
    why = machine.why if isinstance(machine, Trouble) else "nvidia-smi tells of no GPU"
    here = 0 if isinstance(bus, Trouble) else bus.gpus
    if here and (code in (MISSING, *NO_DRIVER) or isinstance(machine, Machine)):
        return NoGpu(f"{here} GPUs on PCI, and no driver that answers: nothing was tested. {why}")
    if not here and not (isinstance(bus, Trouble) and isinstance(machine, Trouble)):
        return NoGpu("no GPU: nothing was tested")
    return Begun(bus, machine, code)


def burn_in(with_: Tools, begun: Begun, thresholds: Thresholds, kind: Kind, expected: int | None) -> Result:
    """All tests of that kind. After a failure no load is put on the machine: it has failed, and might hang."""
    began, machine = time.monotonic(), begun.machine
    if isinstance(machine, Trouble):
        finding = Finding(MACHINE, None, "nvidia_smi", machine.why, "an answer", machine.outcome)
        return Result(kind, "", None, (), (finding,), datetime.now(UTC), time.monotonic() - began)
    found = list(look(with_, begun.bus, machine, begun.code, thresholds, expected))
    if kind == "full":
        found = load(with_, begun.bus, machine, thresholds, expected, found)
    judged_by = judge.model_of(machine.gpus, thresholds)
    model = next((name for name, one in thresholds.models.items() if one is judged_by), None)
    return Result(kind, machine.driver, model, machine.gpus, tuple(found), datetime.now(UTC), time.monotonic() - began)


def look(
    with_: Tools, bus: Pci | Trouble, machine: Machine, code: int, thresholds: Thresholds, expected: int | None
) -> Iterable[Finding]:
    links: dict[str, list[float | None]] | Trouble = {}
    if len(machine.gpus) > 1:
        links, _ = with_.read(["nvidia-smi", "nvlink", "-s"], smi.links)
    since = f"{thresholds.xids.hours} hours ago"
    xids, log_code = with_.read(["journalctl", "-k", "--since", since, "--no-pager", "-o", "cat"], tools.xids)
    who, _ = with_.read(["id", "-u"], str.strip)
    if not isinstance(xids, Trouble) and (log_code or who != "0"):
        # To others journalctl shows an empty log, and calls that a success.
        xids = Trouble("the kernel's log can't be read: it wants root")
    manager: str | Trouble | None = None
    if not isinstance(bus, Trouble) and bus.switches:
        manager, _ = with_.read(["nv-fabricmanager", "--version"], version)
    if code:
        # 14 says that a GPU's infoROM is damaged, with a whole document beside it.
        yield Finding(MACHINE, None, "nvidia_smi", f"exit code {code}", "exit code 0", "error")
    yield from judge.looked(Looked(bus, machine, links, xids, manager), thresholds, expected)


def load(
    with_: Tools,
    bus: Pci | Trouble,
    machine: Machine,
    thresholds: Thresholds,
    expected: int | None,
    before: list[Finding],
) -> list[Finding]:
    """Load on all GPUs, and a look at what it left. Not beside somebody's work."""
    gpus, model = machine.gpus, judge.model_of(machine.gpus, thresholds)
    # Anew: work may have come since, until its node was kept free.
    now, _ = with_.read(["nvidia-smi", "-q", "-x"], smi.parse)
    if isinstance(now, Trouble):
        return [*before, Finding(MACHINE, None, "nvidia_smi", f"before the load: {now.why}", "an answer", now.outcome)]
    busy = judge.at_work(now.gpus)
    if busy or verdict(before) == "failed":
        why = "GPUs are at work" if busy else "something has failed already"
        left_out = Finding(MACHINE, None, f"{DCGM}and_all_load", f"left out: {why}", "pass", "left out")
        return [*before, *busy, left_out]
    found: list[Finding] = []
    if model is not None:
        copies = ["nvbandwidth", "-j", "-t", *judge_load.COPIES.values()]
        found += with_.loaded(
            copies, tools.bandwidth, COPY_SECONDS, lambda value: judge_load.of_copies(value, gpus, model)
        )
    if model is not None and len(gpus) > 1:
        # One size, five rounds to warm up and twenty that count, results checked.
        size, rounds = f"{model.all_reduce_gib}G", ["-w", "5", "-n", "20", "-c", "1"]
        reduce = ["all_reduce_perf", "-b", size, "-e", size, "-f", "2", "-g", str(len(gpus)), *rounds]
        found += with_.loaded(
            reduce, tools.all_reduce, REDUCE_SECONDS, lambda value: judge_load.of_all_reduce(value, gpus, model)
        )
    rules = thresholds.dcgm
    diag = ["dcgmi", "diag", "-r", str(rules.level), "-j"]
    found += with_.loaded(
        diag, tools.diagnoses, DIAG_SECONDS[rules.level], lambda value: judge_load.of_dcgm(value, gpus, rules)
    )
    with_.say("what the load left …")
    after, code = with_.read(["nvidia-smi", "-q", "-x"], smi.parse)
    if isinstance(after, Trouble):
        found.append(Finding(MACHINE, None, "nvidia_smi", f"after the load: {after.why}", "an answer", "failed"))
        return [*before, *found]
    return [*merged(before, list(look(with_, bus, after, code, thresholds, expected))), *found]

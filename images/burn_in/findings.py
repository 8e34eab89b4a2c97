"""What a burn-in found, as values: a finding for each test of each part, and the verdict over all of them."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from .smi import Gpu

# `error`: it could not be judged, which is no pass. `left out`: it does not apply, and why stands in `measured`.
Outcome = Literal["passed", "failed", "error", "left out"]
Kind = Literal["full", "quick"]
MACHINE = "machine"
# Test → what people call what is measured.
TITLES = {
    "nvidia_smi": "nvidia-smi",
    "gpus": "GPUs of the driver",
    "gpus_on_pci": "GPUs on PCI",
    "model": "model",
    "persistence_mode": "persistence mode",
    "ecc_mode": "ECC",
    "mig_mode": "MIG",
    "recovery_action": "recovery action",
    "sram_uncorrectable": "uncorrectable SRAM errors",
    "sram_correctable": "corrected SRAM errors",
    "dram_uncorrectable": "uncorrectable DRAM errors",
    "dram_correctable": "corrected DRAM errors",
    "rows_pending": "row remapping pending",
    "rows_failure": "row remapping failed",
    "rows_uncorrectable": "uncorrectable remapped rows",
    "pcie_width": "PCIe width",
    "graphics_clock": "highest clock",
    "slowed_by": "slowed by",
    "at_work": "programs at work",
    "xids": "Xids",
    "nvlinks": "active NVLinks",
    "nvlink_rate": "slowest NVLink",
    "fabric": "NVLink fabric",
    "fabric_manager": "fabric manager",
    "host_to_device": "copy from host",
    "device_to_host": "copy to host",
    "device_to_device": "slowest copy to a GPU",
    "all_reduce": "NCCL all-reduce",
    "all_reduce_wrong": "wrong NCCL results",
}
DCGM = "dcgm_"


class Finding(NamedTuple):
    """`uuid` is None for what is the machine's. `measured` and `allowed` are for people, with their units."""

    part: str
    uuid: str | None
    test: str
    measured: str
    allowed: str
    outcome: Outcome

    @property
    def title(self) -> str:
        return TITLES.get(self.test) or f"DCGM: {self.test.removeprefix(DCGM).replace('_', ' ')}"

    @property
    def summary(self) -> str:
        return f"{self.part}: {self.title}: {self.measured}, allowed {self.allowed}"


class Result(NamedTuple):
    """`model` is None for one that no thresholds are known of; `seconds` is how long it took."""

    kind: Kind
    driver: str
    model: str | None
    gpus: tuple[Gpu, ...]
    findings: tuple[Finding, ...]
    at: datetime
    seconds: float

    @property
    def outcome(self) -> Outcome:
        return verdict(self.findings)

    @property
    def bad(self) -> list[Finding]:
        """What failed first, then what could not be judged."""
        return [one for outcome in ("failed", "error") for one in self.findings if one.outcome == outcome]

    @property
    def digest(self) -> str:
        """SHA-256 of the hardware and of all that was found, whenever that was."""
        content = [self.kind, self.driver, [gpu.uuid for gpu in self.gpus], [list(one) for one in self.findings]]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def verdict(findings: Sequence[Finding]) -> Outcome:
    """Passed only where something passed and nothing did anything else than that or be left out."""
    outcomes = {one.outcome for one in findings}
    if "failed" in outcomes:
        return "failed"
    return "passed" if outcomes in ({"passed"}, {"passed", "left out"}) else "error"


def merged(first: Sequence[Finding], second: Sequence[Finding]) -> list[Finding]:
    """The same tests before and after the load: the second look counts, but not for what the first found bad."""
    found = {(one.part, one.test): one for one in first}
    for one in second:
        before = found.get((one.part, one.test))
        if before is None or before.outcome in ("passed", "left out"):
            found[one.part, one.test] = one
    return list(found.values())

"""What `nvidia-smi -q -x` says: the machine's GPUs (the DTDs nvsmi_device_v11 and v12), and `nvidia-smi nvlink -s`."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import NamedTuple

# What has no value: GPUs without the part, MIG, and drivers that no longer tell it.
SILENT = ("", "N/A", "[N/A]", "Not Supported", "Unknown Error", "Requested functionality has been deprecated")
ACTIVE = "Active"
LINK = re.compile(r"Link (?P<number>\d+): (?:(?P<rate>[\d.]+) GB/s|<?[Ii]nactive>?)\s*$")
GPU = re.compile(r"GPU (?P<index>\d+): .*\(UUID: (?P<uuid>[^)]+)\)\s*$")


class Unreadable(ValueError):
    """A tool's output is not what its format says; the text tells what."""


class Gpu(NamedTuple):
    """One GPU. `number` is by PCI address, as nvidia-smi counts; `readings` are values by the thresholds' names, with
    none that the driver did not tell; `reasons` is why clocks are lower, None where that was not told; `at_work` are
    programs that use it; `fabric` is how it has registered.
    """

    number: int
    name: str
    uuid: str
    serial: str
    bus: str
    readings: Mapping[str, int | float | str]
    reasons: tuple[str, ...] | None
    at_work: tuple[str, ...]
    fabric: str

    @property
    def part(self) -> str:
        """How people find it: the serial number is the board's, the other one changes when a GPU goes missing."""
        return f"GPU {self.number} (serial {self.serial or 'unknown'}, {self.uuid})"


class Machine(NamedTuple):
    driver: str
    gpus: tuple[Gpu, ...]


def parse(text: str) -> Machine:
    """Raises Unreadable, also where the log tells fewer GPUs than it counts."""
    try:
        root = ET.fromstring(text)  # noqa: S314 - of the machine's own driver
    except ET.ParseError as error:
        raise Unreadable(f"nvidia-smi: no whole XML document ({error})") from None
    gpus = tuple(_gpu(index, one) for index, one in enumerate(root.findall("gpu")))
    counted = _text(root, "attached_gpus")
    if counted != str(len(gpus)):
        raise Unreadable(f"nvidia-smi: it counts {counted or 'no'} GPUs and tells of {len(gpus)}")
    for gpu in gpus:
        if not gpu.uuid or not gpu.name:
            raise Unreadable(f"nvidia-smi: GPU {gpu.number} has no name or no UUID")
    return Machine(_text(root, "driver_version"), gpus)


def _gpu(index: int, one: ET.Element) -> Gpu:
    readings: dict[str, int | float | str] = {}
    for name, path in TEXTS.items():
        if value := _text(one, path):
            readings[name] = value
    for name, path in NUMBERS.items():
        if (number := _number(_text(one, path))) is not None:
            readings[name] = number
    for name, fields in COUNTS.items():
        if (count := _errors(one, fields)) is not None:
            readings[name] = count
    at_work = tuple(
        f"{_text(process, 'pid')} ({_text(process, 'process_name') or 'unknown'})"
        for process in one.findall("processes/process_info")
    )
    fabric = "/".join(_text(one, f"fabric/{what}") or "N/A" for what in ("state", "status"))
    name, uuid, serial = (_text(one, what) for what in ("product_name", "uuid", "serial"))
    bus = _text(one, "pci/pci_bus_id") or one.attrib.get("id", "")
    return Gpu(index, name, uuid, serial, bus, readings, _reasons(one), at_work, fabric)


TEXTS = {
    "persistence_mode": "persistence_mode",
    "ecc_mode": "ecc_mode/current_ecc",
    "mig_mode": "mig_mode/current_mig",
    "recovery_action": "gpu_recovery_action",
    "rows_pending": "remapped_rows/remapped_row_pending",
    "rows_failure": "remapped_rows/remapped_row_failure",
}
NUMBERS = {
    "rows_uncorrectable": "remapped_rows/remapped_row_unc",
    "pcie_width": "pci/pci_gpu_link_info/link_widths/current_link_width",
    "graphics_clock": "max_clocks/graphics_clock",
}
# Alternatives, of which the first that is told counts; v12 has two kinds of uncorrectable errors of SRAM.
COUNTS = {
    "sram_correctable": (("sram_correctable",),),
    "sram_uncorrectable": (("sram_uncorrectable_parity", "sram_uncorrectable_secded"), ("sram_uncorrectable",)),
    "dram_correctable": (("dram_correctable",),),
    "dram_uncorrectable": (("dram_uncorrectable",),),
}


def _errors(one: ET.Element, alternatives: tuple[tuple[str, ...], ...]) -> float | None:
    """The larger of those since the driver was loaded and those of the board's life; None where one is not told."""
    sums = []
    for since in ("volatile", "aggregate"):
        for fields in alternatives:
            found = [_number(_text(one, f"ecc_errors/{since}/{field}")) for field in fields]
            known = [count for count in found if count is not None]
            if len(known) == len(fields):
                sums.append(sum(known))
                break
    return max(sums) if len(sums) == 2 else None


def _reasons(one: ET.Element) -> tuple[str, ...] | None:
    """Drivers before 535 call them throttle reasons."""
    for heading, prefix in (
        ("clocks_event_reasons", "clocks_event_reason_"),
        ("clocks_throttle_reasons", "clocks_throttle_reason_"),
    ):
        found = one.find(heading)
        if found is not None and len(found):
            values = {reason.tag.removeprefix(prefix): (reason.text or "").strip() for reason in found}
            return tuple(name for name, value in values.items() if value == ACTIVE)
    return None


def _text(one: ET.Element, path: str) -> str:
    """Empty where the driver has no value."""
    text = (one.findtext(path) or "").strip()
    return "" if text in SILENT else text


def _number(text: str) -> float | None:
    """Of `16x`, `1980 MHz` and `0`."""
    found = re.match(r"\d+(\.\d+)?(?=x?$|\s)", text)
    return float(found[0]) if found else None


def links(text: str) -> dict[str, list[float | None]]:
    """By UUID: the rate of each NVLink in GB/s, None of one that is inactive. Raises Unreadable."""
    found: dict[str, list[float | None]] = {}
    current: list[float | None] | None = None
    for line in text.splitlines():
        if gpu := GPU.search(line):
            current = found.setdefault(gpu["uuid"], [])
        elif link := LINK.search(line):
            if current is None or int(link["number"]) != len(current):
                raise Unreadable(f"nvidia-smi nvlink: {line.strip()!r} is out of its place")
            current.append(float(link["rate"]) if link["rate"] else None)
        elif line.strip():
            raise Unreadable(f"nvidia-smi nvlink: {line.strip()[:80]!r}")
    if not found:
        raise Unreadable("nvidia-smi nvlink: it told of no GPU")
    return found

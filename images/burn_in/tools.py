"""What nvbandwidth, nccl-tests, DCGM and the kernel's log say. Pure: text in, values out, else Unreadable."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .smi import Unreadable

PASSED = "Passed"
NOT_MEASURED = "N/A"


class Cell(NamedTuple):
    """A copy's rate. `peer` is the other GPU, None where it is the host."""

    gpu: int
    peer: int | None
    gb_s: float


class AllReduce(NamedTuple):
    """`wrong` counts results out of bounds; `gb_s` is the average bus bandwidth."""

    ranks: int
    wrong: int
    gb_s: float


class Diagnosis(NamedTuple):
    """One test of DCGM on one GPU, None where it is the machine's; `warnings` are what it said."""

    test: str
    gpu: int | None
    status: str
    warnings: str


class Xid(NamedTuple):
    """`bus` is the GPU's PCI address, `message` the rest of the driver's line."""

    bus: tuple[int, int, int]
    code: int
    message: str


def bandwidth(text: str) -> dict[str, list[Cell]]:
    """`nvbandwidth -j`: the measured cells by test. A test that was waived or failed is not among them."""
    root = _document(text, "nvbandwidth").get("nvbandwidth")
    if not isinstance(root, dict) or not isinstance(root.get("testcases"), list):
        raise Unreadable(f"nvbandwidth: {_error_text(root) or 'there are no testcases in what it said'}")
    if _error_text(root):
        raise Unreadable(f"nvbandwidth: {_error_text(root)}")
    try:
        return {
            str(case["name"]): list(_cells(case)) for case in root["testcases"] if str(case.get("status")) == PASSED
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Unreadable("nvbandwidth: a test without a name or with a matrix that has no numbers") from None


def _error_text(root: Any) -> str:
    return str(root.get("error") or "") if isinstance(root, dict) else ""


def _cells(case: Mapping[str, Any]) -> Iterator[Cell]:
    """Host to GPU has a row for the host and a column for each GPU; GPU to GPU a row for each, too."""
    between = str(case["name"]).startswith("device_to_device")
    for row, values in enumerate(case["bandwidth_matrix"]):
        for column, value in enumerate(values):
            if value != NOT_MEASURED:
                rate = float(value)
                if not math.isfinite(rate):
                    raise ValueError(value)
                yield Cell(row if between else column, column if between else None, rate)


def all_reduce(text: str) -> AllReduce:
    """`all_reduce_perf`: its devices, its rows and its last lines."""
    ranks = len({found[1] for found in re.finditer(r"^#\s+Rank\s+(\d+)\s", text, re.MULTILINE)})
    rows = re.findall(r"^\s*\d+\s+\d+\s+\w+\s+\w+\s+-?\d+\s+[\d.]+\s", text, re.MULTILINE)
    wrong = re.search(r"^# Out of bounds values : (\d+) (OK|FAILED)\s*$", text, re.MULTILINE)
    average = re.search(r"^# Avg bus bandwidth\s*: ([\d.]+)\s*$", text, re.MULTILINE)
    if not ranks or not rows or wrong is None or average is None:
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
        raise Unreadable(f"all_reduce_perf: it did not come to its end: {last.strip()[:120]}")
    # FAILED with a count of none would be a contradiction: believe the word.
    count = int(wrong[1])
    return AllReduce(ranks, max(count, 1) if wrong[2] == "FAILED" else count, float(average[1]))


def diagnoses(text: str) -> list[Diagnosis]:
    """`dcgmi diag -j`, of DCGM 3 and 4."""
    document = _document(text, "dcgmi")
    root = next((document[key] for key in ("DCGM Diagnostic", "DCGM GPU Diagnostic") if key in document), None)
    if not isinstance(root, dict):
        raise Unreadable("dcgmi: there is no diagnosis in what it said")
    if error := root.get("runtime_error"):
        raise Unreadable(f"dcgmi: {str(error)[:200]}")
    try:
        found = [
            one
            for category in root["test_categories"]
            for test in category["tests"]
            for result in test["results"]
            for one in _results(_name(str(category.get("category")), str(test["name"])), result)
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Unreadable("dcgmi: a test without a name, results or status") from None
    if not found:
        raise Unreadable("dcgmi: it ran no test")
    return found


def _name(category: str, name: str) -> str:
    """As DCGM 4 has it. DCGM 3 says names with capitals and spaces, and has its software's tests one by one."""
    plain = name.strip().lower().replace(" ", "_")
    return "software" if category == "Deployment" else {"gpu_memory": "memory"}.get(plain, plain)


def _results(name: str, result: Mapping[str, Any]) -> Iterator[Diagnosis]:
    warnings = result.get("warnings", [])
    entries = [one.get("warning", "") if isinstance(one, dict) else one for one in _listed(warnings)]
    text = "; ".join(str(one).strip() for one in entries)
    status = str(result["status"]).strip().lower()
    if "entity_id" in result:
        gpus = [int(result["entity_id"])] if result.get("entity_group", "GPU") == "GPU" else [None]
    else:
        ids = str(result.get("gpu_id", result.get("gpu_ids", "")))
        gpus = [int(one) for one in ids.split(",") if one.strip()] or [None]
    for gpu in gpus:
        yield Diagnosis(name, gpu, status, text)


def _listed(warnings: Any) -> list[Any]:
    return warnings if isinstance(warnings, list) else [warnings]


def xids(text: str) -> list[Xid]:
    """Lines of the kernel's log such as `NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.`"""
    line = re.compile(r"NVRM: Xid \(PCI:([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)(?:\.\d)?\): (\d+)(.*)", re.IGNORECASE)
    return [
        Xid((int(found[1], 16), int(found[2], 16), int(found[3], 16)), int(found[4]), found[5].strip(" ,"))
        for found in line.finditer(text)
    ]


def address(bus: str) -> tuple[int, int, int] | None:
    """Of `00000000:3B:00.0`; None where it is none."""
    found = re.fullmatch(r"([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)\.\d", bus, re.IGNORECASE)
    return (int(found[1], 16), int(found[2], 16), int(found[3], 16)) if found else None


def _document(text: str, tool: str) -> dict[str, Any]:
    """From the first brace on: tools say things before it."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text[max(text.find("{"), 0) :])
    except json.JSONDecodeError as error:
        raise Unreadable(f"{tool}: no whole JSON document ({error.msg})") from None
    if not isinstance(found, dict):
        raise Unreadable(f"{tool}: no JSON object")
    return found

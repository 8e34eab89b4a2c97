"""Readings against thresholds. Pure. What could not be read is an error, never a pass (fail closed)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .findings import MACHINE, Finding, Outcome
from .smi import Gpu, Machine
from .thresholds import Limit, Model, Thresholds, Value
from .tools import Xid, address

NOT_REPORTED = "not told"


class Trouble(NamedTuple):
    """Why there is no reading. `failed`: hardware or driver did not come to an end, which is a finding itself."""

    why: str
    failed: bool = False

    @property
    def outcome(self) -> Outcome:
        return "failed" if self.failed else "error"


class Pci(NamedTuple):
    """NVIDIA's devices on the bus, whatever the driver makes of them."""

    gpus: int
    switches: int


class Looked(NamedTuple):
    """All that is read without load; `fabric_manager` is its version, None where no switch asks for one."""

    pci: Pci | Trouble
    machine: Machine
    links: Mapping[str, Sequence[float | None]] | Trouble
    xids: Sequence[Xid] | Trouble
    fabric_manager: str | Trouble | None


def limited(part: str, uuid: str | None, test: str, value: Value | Trouble | None, limit: Limit) -> Finding:
    """One value against one limit; None is a value that was not told."""
    if isinstance(value, Trouble):
        return Finding(part, uuid, test, value.why, limit.bound, value.outcome)
    if value is None:
        return Finding(part, uuid, test, NOT_REPORTED, limit.bound, "error")
    return Finding(part, uuid, test, limit.shown(value), limit.bound, "passed" if limit.allows(value) else "failed")


def looked(found: Looked, thresholds: Thresholds, expected: int | None) -> Iterator[Finding]:
    """What needs no load: counts, states, errors, rows, clocks, links. `expected` is the number of GPUs bought."""
    gpus = found.machine.gpus
    model = model_of(gpus, thresholds)
    count = Limit(exactly=expected, source="") if expected is not None else model.gpus if model else None
    if count is None:
        yield Finding(MACHINE, None, "gpus", str(len(gpus)), "--expect NUMBER", "error")
    else:
        yield limited(MACHINE, None, "gpus", len(gpus), count)
    on_pci = found.pci if isinstance(found.pci, Trouble) else found.pci.gpus
    yield limited(MACHINE, None, "gpus_on_pci", on_pci, Limit(exactly=len(gpus), source=""))
    if model is None:
        known = ", ".join(name for one in thresholds.models.values() for name in one.names)
        names = ", ".join(sorted({gpu.name for gpu in gpus}))
        yield Finding(MACHINE, None, "model", f"no thresholds for {names}", known, "error")
    if found.fabric_manager is not None:
        limit = Limit(exactly=found.machine.driver, source="")
        yield limited(MACHINE, None, "fabric_manager", found.fabric_manager, limit)
    for gpu in gpus:
        yield from of_gpu(gpu, thresholds, model, alone=len(gpus) == 1)
        yield from of_links(gpu, found.links, model, alone=len(gpus) == 1)
    yield from of_xids(found, thresholds)


def model_of(gpus: Sequence[Gpu], thresholds: Thresholds) -> Model | None:
    """None of a machine whose GPUs differ, too: no threshold is meant for such a one."""
    names = {gpu.name for gpu in gpus}
    return thresholds.of(names.pop()) if len(names) == 1 else None


def of_gpu(gpu: Gpu, thresholds: Thresholds, model: Model | None, *, alone: bool) -> Iterator[Finding]:
    for test, limit in thresholds.limits.items():
        one = limited(gpu.part, gpu.uuid, test, gpu.readings.get(test), limit)
        # Slices are no broken part, and their GPU can't be judged.
        yield one._replace(outcome="error") if test == "mig_mode" and one.outcome == "failed" else one
    if model is not None:
        yield limited(gpu.part, gpu.uuid, "graphics_clock", gpu.readings.get("graphics_clock"), model.graphics_clock)
        if model.fabric and not alone:
            registered = Limit(exactly="Completed/Success", source="")
            yield limited(gpu.part, gpu.uuid, "fabric", gpu.fabric, registered)
    yield _slowed(gpu, thresholds.clocks.allowed)


def _slowed(gpu: Gpu, allowed: Sequence[str]) -> Finding:
    allowed_text = f"only {', '.join(allowed)}".replace("_", " ")
    if gpu.reasons is None:
        return Finding(gpu.part, gpu.uuid, "slowed_by", NOT_REPORTED, allowed_text, "error")
    wrong = [reason for reason in gpu.reasons if reason not in allowed]
    shown = ", ".join(wrong or gpu.reasons).replace("_", " ") or "nothing"
    return Finding(gpu.part, gpu.uuid, "slowed_by", shown, allowed_text, "failed" if wrong else "passed")


def of_links(
    gpu: Gpu, links: Mapping[str, Sequence[float | None]] | Trouble, model: Model | None, *, alone: bool
) -> Iterator[Finding]:
    """A GPU that is alone in its machine, as slices of a board are sold, has nobody to be linked with."""
    if model is None:
        return
    if alone:
        yield Finding(gpu.part, gpu.uuid, "nvlinks", "one GPU has no links", model.nvlinks.bound, "left out")
        return
    if isinstance(links, Trouble):
        yield limited(gpu.part, gpu.uuid, "nvlinks", links, model.nvlinks)
        return
    rates = links.get(gpu.uuid)
    active = [rate for rate in rates or () if rate is not None]
    yield limited(gpu.part, gpu.uuid, "nvlinks", None if rates is None else len(active), model.nvlinks)
    yield limited(gpu.part, gpu.uuid, "nvlink_rate", min(active) if active else None, model.nvlink_rate)


def of_xids(found: Looked, thresholds: Thresholds) -> Iterator[Finding]:
    """Those of a GPU that is gone are the machine's."""
    rules = thresholds.xids
    allowed = f"none of {len(rules.fatal)} in {rules.hours} h"
    if isinstance(found.xids, Trouble):
        yield Finding(MACHINE, None, "xids", found.xids.why, allowed, found.xids.outcome)
        return
    parts = {address(gpu.bus): gpu for gpu in found.machine.gpus}
    grouped: dict[str, list[Xid]] = {}
    for xid in found.xids:
        if xid.code in rules.fatal:
            gpu = parts.get(xid.bus)
            grouped.setdefault(gpu.part if gpu else MACHINE, []).append(xid)
    by_part = {gpu.part: gpu for gpu in found.machine.gpus}
    for part, some in grouped.items():
        codes = ", ".join(str(code) for code in sorted({xid.code for xid in some}))
        missing = (
            "" if part in by_part else " of a GPU that is not there at PCI {:04x}:{:02x}:{:02x}".format(*some[0].bus)
        )
        shown = f"{codes}{missing} ({some[-1].message[:80]})"
        yield Finding(part, by_part[part].uuid if part in by_part else None, "xids", shown, allowed, "failed")
    if not grouped:
        yield Finding(MACHINE, None, "xids", "none", allowed, "passed")


def at_work(gpus: Sequence[Gpu]) -> list[Finding]:
    """Programs on GPUs: a load beside them would disturb them, and be measured too low."""
    return [
        Finding(gpu.part, gpu.uuid, "at_work", ", ".join(gpu.at_work)[:120], "none for a full burn-in", "error")
        for gpu in gpus
        if gpu.at_work
    ]

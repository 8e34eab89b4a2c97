"""The same for tests under load: bandwidth, NCCL and DCGM."""

from collections.abc import Iterator, Mapping, Sequence

from .findings import DCGM, MACHINE, Finding
from .judge import Trouble, limited
from .smi import Gpu
from .thresholds import Dcgm, Limit, Model
from .tools import AllReduce, Cell, Diagnosis

# Test → nvbandwidth's name of it.
COPIES = {
    "host_to_device": "host_to_device_memcpy_ce",
    "device_to_host": "device_to_host_memcpy_ce",
    "device_to_device": "device_to_device_memcpy_read_ce",
}


def of_copies(found: Mapping[str, Sequence[Cell]] | Trouble, gpus: Sequence[Gpu], model: Model) -> Iterator[Finding]:
    """Each GPU by its slowest copy; of copies between two, both are told, for either may be the slow one."""
    for test, name in COPIES.items():
        limit = getattr(model, test)
        for gpu in gpus:
            if test == "device_to_device" and len(gpus) == 1:
                yield Finding(gpu.part, gpu.uuid, test, "one GPU has no peer", limit.bound, "left out")
                continue
            if isinstance(found, Trouble):
                yield limited(gpu.part, gpu.uuid, test, found, limit)
                continue
            cells = [cell for cell in found.get(name, ()) if cell.gpu == gpu.number]
            wanted = {other.number for other in gpus} - {gpu.number} if test == "device_to_device" else {None}
            if {cell.peer for cell in cells} != wanted:
                # A pair that was not measured has shown nothing.
                yield limited(gpu.part, gpu.uuid, test, None, limit)
                continue
            slowest = min(cells, key=lambda cell: cell.gb_s)
            one = limited(gpu.part, gpu.uuid, test, slowest.gb_s, limit)
            where = "" if slowest.peer is None or one.outcome == "passed" else f" with GPU {slowest.peer}"
            yield one._replace(measured=one.measured + where)


def of_all_reduce(found: AllReduce | Trouble, gpus: Sequence[Gpu], model: Model) -> Iterator[Finding]:
    count = len(gpus)
    limit = model.all_reduce.get(count)
    together = f"GPUs 0-{count - 1} together"
    if limit is None:
        known = ", ".join(str(one) for one in model.all_reduce)
        yield Finding(together, None, "all_reduce", f"no threshold for {count} GPUs", f"{known} GPUs", "error")
    if isinstance(found, Trouble):
        bound = limit.bound if limit else "an end"
        yield Finding(together, None, "all_reduce", found.why, bound, found.outcome)
        return
    if found.ranks != count:
        yield Finding(together, None, "all_reduce", f"{found.ranks} took part", f"{count} GPUs", "error")
    elif limit is not None:
        yield limited(together, None, "all_reduce", found.gb_s, limit)
    yield limited(together, None, "all_reduce_wrong", found.wrong, Limit(exactly=0, source=""))


def of_dcgm(found: Sequence[Diagnosis] | Trouble, gpus: Sequence[Gpu], rules: Dcgm) -> Iterator[Finding]:
    """Each test on each GPU: failed where DCGM says so; passed where it says so of a GPU or of the whole machine."""
    if isinstance(found, Trouble):
        yield Finding(MACHINE, None, f"{DCGM}level_{rules.level}", found.why, "pass", found.outcome)
        return
    others = sorted({one.test for one in found} - set(rules.required))
    for test in (*rules.required, *others):
        for gpu in gpus:
            yield _of_test(test, [one for one in found if one.test == test], gpu, required=test in rules.required)
    # Of a GPU that nobody else knows of.
    known = {gpu.number for gpu in gpus}
    for one in found:
        if one.gpu is not None and one.gpu not in known:
            part = f"GPU {one.gpu} of DCGM, which the driver does not tell of"
            yield Finding(part, None, f"{DCGM}{one.test}", one.status, "no such GPU", "error")


def _of_test(test: str, found: Sequence[Diagnosis], gpu: Gpu, *, required: bool) -> Finding:
    mine = [one for one in found if one.gpu in (gpu.number, None)]
    statuses = {one.status for one in mine}
    warnings = "; ".join(one.warnings for one in mine if one.warnings and one.status != "pass")
    shown = ", ".join(sorted(statuses)) or "not run"
    measured = f"{shown}: {warnings[:160]}" if warnings else shown
    finding = Finding(gpu.part, gpu.uuid, f"{DCGM}{test}", measured, "pass", "error")
    if "fail" in statuses:
        return finding._replace(outcome="failed")
    if "pass" in statuses and statuses <= {"pass", "skip"}:
        return finding._replace(outcome="passed")
    # What DCGM adds to a level and then skips for want of a licence or a part is no test of ours.
    return finding._replace(outcome="left out") if statuses <= {"skip"} and not required else finding

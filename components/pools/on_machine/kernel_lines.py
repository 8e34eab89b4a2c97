"""The kernel's log: its records as /dev/kmsg has them, and what each line of it shows. Pure but for names of pods."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pod_names
import xids
from kernel_rows import PCI, ROWS, WELL
from pod_names import Pod

# Nobody but the kernel may write records of its own facility.
KERNEL = 0


class Record(NamedTuple):
    """`seconds` since the machine's start."""

    sequence: int
    seconds: float
    text: str


class Finding(NamedTuple):
    """`condition` is empty for what is temporary. With `well` it clears that condition of its subject."""

    reason: str
    subject: str
    message: str
    condition: str = ""
    well: bool = False


def record(line: str) -> Record | None:
    """Of `prio,seq,usec,flags;text`: None for others' and for what continues a record.

    Documentation/ABI/testing/dev-kmsg of the kernel.
    """
    head, semicolon, text = line.partition(";")
    parts = head.split(",")
    if not semicolon or line.startswith(" ") or len(parts) < 3 or not all(part.isdigit() for part in parts[:3]):
        return None
    prio, sequence, micros = map(int, parts[:3])
    return Record(sequence, micros / 1e6, text) if prio >> 3 == KERNEL else None


COMPILED = tuple((re.compile(row.pattern), row) for row in ROWS)


def findings(text: str) -> Iterator[Finding]:
    """What a line shows: the first row that fits."""
    for pattern, of_match in SPECIAL:
        if found := pattern.search(text):
            yield of_match(found)
            return
    for pattern, row in COMPILED:
        if found := pattern.search(text):
            groups = {name: value.strip() for name, value in found.groupdict().items()}
            groups["owner"] = owner(pod_names.of_process(groups["pid"])) if "{owner}" in row.message else ""
            subject, message = row.subject.format(**groups), row.message.format(**groups)
            yield Finding(row.reason or WELL[row.condition][0], subject, message, row.condition, row.well)
            return


def owner(pod: Pod | None) -> str:
    """Such as ` in container run of pod team-a/train-0 (uid …)`: evidence/findings.py reads it."""
    if pod is None:
        return ""
    return f"{f' in container {pod.container}' if pod.container else ''} of pod {pod.name} (uid {pod.uid})"


def out_of_memory(found: re.Match[str]) -> Finding:
    """mm/oom_kill.c, dump_oom_summary. Whose limit it was stands in oom_memcg, what was ended in task_memcg."""
    pod, process = pod_names.of_cgroup(found["task_memcg"]), f"{found['task']} (process {found['pid']})"
    full = found["oom_memcg"] or ""
    if found["constraint"] != "MEMCG":
        scope, what = "Whole node", "the node ran out of memory"
    elif pod_names.CGROUP.search(full):
        scope, what = "Container's limit", "its memory cgroup was full"
    elif "kubepods" in full:
        # What the kubelet leaves to all pods together (enforceNodeAllocatable).
        scope, what = "Whole node", "all pods together used what the node has for them"
    else:
        scope, what = "Limit of a service", f"the memory cgroup {full} was full"
    message = f"{scope}: {what}, and the kernel ended {process}{owner(pod)} (CONSTRAINT_{found['constraint']})"
    return Finding("OOMKilling", pod.uid if pod else found["task"], message)


def xid(found: re.Match[str]) -> Finding:
    number, pci, text = int(found["xid"]), found["pci"].lower(), found["text"].strip(" ,")
    if number == xids.ACTION:
        return _action(pci, text)
    known = xids.of(number, text)
    lasts = known.lasts == "yes"
    process = re.search(r"pid='?(\d+)", text)
    pod = pod_names.of_process(process[1]) if process and not lasts else None
    message = f"GPU {pci}: Xid {number}, {known.meaning}{owner(pod)}" + (f": {text}" if text else "")
    if lasts:
        return Finding(known.reason, pci, message, "GPUUnhealthy")
    # What the next pod's program does must not take this one's place.
    return Finding(known.reason, f"{pci} {number} {pod.uid if pod else ''}".strip(), message)


def _action(pci: str, text: str) -> Finding:
    """Which of the others asked for it stands in the line before."""
    asked = xids.action(text)
    if asked == "":
        return Finding(
            WELL["GPUUnhealthy"][0], pci, f"GPU {pci}: the driver asks for nothing", "GPUUnhealthy", well=True
        )
    message = f"GPU {pci}: Xid {xids.ACTION}, the driver asks for {asked or 'something'}: {text}"
    return Finding("GPUNeedsAction", pci, message, "GPUUnhealthy")


OOM = re.compile(
    r"oom-kill:constraint=CONSTRAINT_(?P<constraint>\w+),.*?(?:,oom_memcg=(?P<oom_memcg>[^,]*))?(?:,global_oom)?"
    r",task_memcg=(?P<task_memcg>[^,]*),task=(?P<task>.*),pid=(?P<pid>\d+),uid=\d+"
)
XID = re.compile(rf"NVRM: Xid {PCI}: (?P<xid>\d+)(?P<text>.*)", re.IGNORECASE)
SPECIAL: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Finding]], ...] = ((OOM, out_of_memory), (XID, xid))

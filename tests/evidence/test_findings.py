"""From a kernel's line over the node's event and condition to the cause: what a node's own reports show of a pod's end."""

import re
from pathlib import Path
from typing import Any

import pytest

from evidence import findings
from evidence.causes import causes
from evidence.events import of_event
from evidence.judge import judge
from evidence.nodes import of_node
from evidence.observation import Observation
from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)

import kernel_lines  # isort: skip
import kernel_rows  # isort: skip
import node_reports  # isort: skip
import pod_names  # isort: skip
import xids  # isort: skip

POD, NODE, UID, OTHER = "pod/team-a/train-0", "gpu-1", "1" * 8 + "-1111" * 3 + "-" + "1" * 12, "2" * 32
AT = 1795860000.0
OOM = (
    "oom-kill:constraint=CONSTRAINT_{0},nodemask=(null),cpuset=/,mems_allowed=0-1,{1},"
    "task_memcg=/kubepods/burstable/pod{2}/{3},task=python,pid=39079,uid=107"
)


@pytest.fixture(autouse=True)
def owners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Process 5120 is the pod's, 6001 another pod's."""
    known = {"5120": pod_names.Pod(UID, "team-a/train-0", "run"), "6001": pod_names.Pod(OTHER, "team-b/x", "main")}
    monkeypatch.setattr(pod_names, "of_process", known.get)


def seen(at: float, code: str, about: str = POD, **facts: object) -> Observation:
    return Observation(AT + at, "somebody", about, code, "said so", UID if about == POD else "", facts)


def exited(at: float, code: int = 1) -> Observation:
    kind = "signalled" if code in (137, 143) else "exited"
    return seen(at, kind, container="run", exit_code=code, **({"signal": code - 128} if code > 128 else {}))


def said(at: float, line: str) -> list[Observation]:
    """What the events of a line show."""
    found = []
    for one in kernel_lines.findings(line):
        told = node_reports.Told(one, AT + at, AT + at, 1, "key")
        body = node_reports.event(NODE, told)
        body["metadata"]["creationTimestamp"] = body["lastTimestamp"]
        found.append(of_event(body))
    return [one for one in found if one]


def lasts(at: float, line: str) -> list[Observation]:
    """What the condition that a line brings about shows."""
    (one,) = kernel_lines.findings(line)
    wrong = {one.subject: node_reports.Wrong(one.reason, one.message, AT + at)}
    made = node_reports.condition(one.condition, wrong, AT + at)
    node = {"metadata": {"name": NODE}, "spec": {}, "status": {"conditions": [made]}}
    return of_node(node)


XID = "NVRM: Xid (PCI:0000:44:00): {}"
OFF_BUS = XID.format("79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.")
NFS = "nfs: server 10.2.80.41 not responding, still trying"
# Line, what followed it, and the chain.
STORIES: dict[str, tuple[str, list[Observation], list[str]]] = {
    "a GPU off the bus": (OFF_BUS, [exited(30)], ["gpu-off-bus", "exited"]),
    "a GPU off the bus, and the device plugin": (
        OFF_BUS,
        [exited(30), seen(900, "gpu-failed", f"node/{NODE}")],
        ["gpu-off-bus", "exited"],
    ),
    "memory of a GPU": (XID.format("48, pid=1234, name=python"), [exited(20, 134)], ["gpu-ecc", "exited"]),
    "memory of a GPU, contained": (XID.format("94, pid='5120', name=python, Contained: SM"), [exited(2)], ["gpu-ecc", "exited"]),
    "NVLink, and a hang": (
        XID.format("74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 6"),
        [seen(600, "hang"), seen(601, "killed-by-probe", container="run"), exited(602, 137)],
        ["gpu-nvlink", "hang", "probe", "signalled"],
    ),
    "a switch": (
        "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
        [exited(60)],
        ["gpu-nvlink", "exited"],
    ),
    "GSP": (XID.format("119, pid=1, name=x, Timeout waiting for RPC from GSP!"), [exited(60)], ["gpu-xid", "exited"]),
    "an Xid of the driver's own": (
        XID.format("154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"),
        [exited(60), seen(61, "run-gave-up", "jobset/team-a/train"), seen(62, "collected")],
        ["gpu-xid", "exited", "run-gave-up", "collected"],
    ),
    "the program's own work on a GPU": (
        XID.format("31, pid=5120, name=python3, Ch 00000008, intr 00000000. MMU Fault"),
        [exited(1)],
        ["gpu-program", "exited"],
    ),
    "the container's memory": (
        OOM.format("MEMCG", f"oom_memcg=/kubepods/burstable/pod{UID}", UID, "a" * 64),
        [seen(1, "oom-killed", container="run", exit_code=137)],
        ["oom-of-container"],
    ),
    "the node's memory": (
        OOM.format("NONE", "global_oom", UID, "a" * 64),
        [seen(1, "oom-killed", container="run", exit_code=137)],
        ["oom-of-node", "oom-of-container"],
    ),
    "a share that is away at a start": (NFS, [seen(60, "mount")], ["nfs-away", "mount"]),
    "a share that is away under a run": (
        NFS,
        [seen(900, "hang"), seen(901, "killed-by-probe", container="run"), exited(931, 137)],
        ["nfs-away", "hang", "probe", "signalled"],
    ),
    "a link": (
        "mlx5_core 0000:12:00.0 ens1f0np0: Link down",
        [seen(40, "node-silent", f"node/{NODE}"), seen(340, "lost-with-kubelet")],
        ["nic-down", "node-silent", "lost-with-kubelet"],
    ),
    "a disk that can't be written": (
        "EXT4-fs (sda3): Remounting filesystem read-only",
        [seen(5, "container-refused", container="run")],
        ["disk-readonly", "container-refused"],
    ),
    "a disk that fails": (
        "I/O error, dev nvme0n1, sector 32776 op 0x1:(WRITE) flags 0x3000",
        [exited(3, 135)],
        ["disk-failing", "exited"],
    ),
    "a module of memory": (
        "Memory failure: 0x7740c0: Sending SIGBUS to python3:5120 due to hardware memory corruption",
        [exited(1, 135)],
        ["memory-broken", "exited"],
    ),
    "the kernel": (
        "kernel BUG at fs/ext4/inode.c:847!",
        [seen(10, "rebooted", f"node/{NODE}"), seen(11, "lost-with-kubelet")],
        ["kernel-trouble", "rebooted", "lost-with-kubelet"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_a_line_is_the_cause_of_what_followed(name: str) -> None:
    line, followed, codes = STORIES[name]
    mine = [seen(0, "created"), *followed]
    found = judge([*said(0, line), *mine])
    assert [found.code, *(one.cause.code for one in found.followed)] == codes
    assert "an unknown" not in found.sentence + found.advice
    # Long before it is none.
    assert judge([*said(-90_000, line), *mine]).code == (codes[1] if len(codes) > 1 else codes[0])


@pytest.mark.parametrize(
    "line", [OFF_BUS, NFS, "EXT4-fs (sda3): Remounting filesystem read-only", "e1000e: eth1 NIC Link is Down"]
)
def test_a_condition_shows_the_same_as_its_event(line: str) -> None:
    (event,), (condition,) = said(0, line), lasts(0, line)
    assert (event.code, event.about, event.at) == (condition.code, condition.about, condition.at)
    alike = ("pci", "xid", "meaning")
    assert [event.facts.get(one) for one in alike] == [condition.facts.get(one) for one in alike]


def test_what_the_driver_asks_for_afterwards_is_no_cause_of_its_own() -> None:
    asks = XID.format("154, GPU recovery action changed from 0x0 (None) to 0x2 (OS Reboot)")
    found = judge([*said(0, OFF_BUS), *said(1, asks), *lasts(0, OFF_BUS), exited(30)])
    assert [found.code, *(one.cause.code for one in found.followed)] == ["gpu-off-bus", "gpu-xid", "exited"]


def test_a_clock_is_a_condition_that_shows_itself() -> None:
    told = [
        {
            "type": "NTPProblem",
            "status": "True",
            "reason": "ClockNotSynchronized",
            "message": "the clock follows no other one",
        }
    ]
    found = judge(of_node({"metadata": {"name": NODE}, "spec": {}, "status": {"conditions": told}}), "node")
    assert (found.code, found.sentence) == ("clock-wrong", "The clock of it is wrong: the clock follows no other one.")


def test_the_sentence_says_which_board_and_whose_fault() -> None:
    found = judge([*said(0, OFF_BUS), exited(30)])
    assert found.sentence == "GPU 0000:44:00 of its node was lost: Xid 79, it has fallen off the bus."
    assert found.source == "kernel-monitor"
    found = judge([*said(0, XID.format("31, pid=5120, name=python3, Ch 00000008")), exited(1)])
    assert found.sentence == (
        "The program itself did wrong on GPU 0000:44:00, and the machine is well: Xid 31, it used memory that is not its own."
    )
    found = judge(said(0, OOM.format("MEMCG", f"oom_memcg=/kubepods/burstable/pod{UID}", UID, "a" * 64)))
    assert found.code == "unknown", "that a process of it was ended does not say that the container was"


OTHERS = {
    "another pod's program": XID.format("31, pid=6001, name=python3, Ch 00000008"),
    "a program of nobody knows whom": XID.format("31, pid=9, name=python3, Ch 00000008"),
    "another pod's memory": OOM.format("MEMCG", f"oom_memcg=/kubepods/burstable/pod{OTHER}", OTHER, "a" * 64),
    "another pod's process, when the node's memory was full": OOM.format("NONE", "global_oom", OTHER, "a" * 64),
    "another pod's broken memory": XID.format("94, pid=6001, name=python, Contained"),
    "a service's memory": "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/x,task_memcg=/x,task=a,pid=1,uid=0",
    "errors that were corrected": "EDAC MC0: 2 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1)",
    "a row that will be replaced": XID.format("63, pid=1896, Row Remapper: New row marked for remapping"),
    "a switch that goes on": "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress",
    "a share that is back": "nfs: server 10.2.80.41 OK",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_befell_others_or_nobody_is_no_cause(name: str) -> None:
    for end in (exited(1), exited(1, 137), seen(1, "oom-killed", container="run")):
        found = judge([*said(0, OTHERS[name]), end])
        assert found.code == judge([end]).code
        assert not found.followed


def test_a_node_goes_on_with_it() -> None:
    """What took it is the answer, whatever it had before; and where nothing did, that is."""
    first = [*said(0, NFS), *said(5, XID.format("31, pid=5120, name=x, Ch 1")), *said(9, OFF_BUS)]
    assert judge([*first, seen(5000, "rolling", f"node/{NODE}")], "node").code == "rolled"
    assert (
        judge(said(0, OFF_BUS), "node").sentence == "GPU 0000:44:00 of it was lost: Xid 79, it has fallen off the bus."
    )
    assert judge(first, "node").code == "nfs-away"
    silent = [*said(0, "kernel BUG at fs/ext4/inode.c:847!"), seen(50, "node-silent", f"node/{NODE}")]
    assert judge(silent, "node").code == "kernel-trouble"


# What tells of nothing that has ended anything.
QUIET = {"GPUWarning", "MemoryReadError", "UnregisterNetDevice", *(reason for reason, _ in kernel_rows.WELL.values())}


def test_every_reason_shows_something_or_is_known_to_show_nothing() -> None:
    reasons = {row.reason for row in kernel_rows.ROWS if row.reason}
    reasons |= {one.reason for one in xids.XIDS.values()} | {xids.WARNING, "GPUNeedsAction", "OOMKilling"}
    reasons |= {"ClockNotSynchronized", *(reason for reason, _ in kernel_rows.WELL.values())}
    # node-problem-detector's, of nodes that others have made.
    assert reasons == {*findings.CODES} - {"DockerHung"} | QUIET
    shown = {code for one in causes() for code in one.shown_by}
    assert {*findings.CODES.values()} <= shown


def test_node_problem_detector_s_own_events_are_understood() -> None:
    def event(text: str) -> Any:
        found = of_event({
            "metadata": {"name": "e", "creationTimestamp": "2026-11-28T10:00:00Z"},
            "involvedObject": {"kind": "Node", "name": NODE},
            "reason": "OOMKilling",
            "message": text,
        })  # fmt: skip
        assert found is not None
        return found.code

    assert event("Out of memory: Killed process 19227 (entry) total-vm:1656kB, anon-rss:120kB") == "oom-of-node"
    assert event("Memory cgroup out of memory: Killed process 39079 (qemu) total-vm:17829052kB") == "elsewhere"


def test_the_guide_has_every_condition() -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/why.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE)) == kernel_rows.WELL.keys()

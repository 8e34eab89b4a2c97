"""Lines of real kernels, and what each shows. They are from mailing lists, issues and guides, with addresses changed."""

from pathlib import Path

import pytest

from images.burn_in.thresholds import load
from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)

import kernel_lines  # isort: skip
import kernel_rows  # isort: skip
import pod_names  # isort: skip
import xids  # isort: skip

UID, CONTAINER = (
    "968a06fb-9ab9-4819-8caf-0392ddff3d9b",
    "0f32894de86edf3d3832702af794874ef8d400b4969acdea4976b12040756e0d",
)
POD = f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID.replace('-', '_')}.slice"
OOM = (
    f"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-{CONTAINER}.scope,mems_allowed=0-1,"
    f"oom_memcg={{limit}},task_memcg={POD}/cri-containerd-{CONTAINER}.scope,task=qemu-system-x86,pid=39079,uid=107"
)
GLOBAL = (
    f"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
    f"task_memcg={POD}/cri-containerd-{CONTAINER}.scope,task=argocd-dex,pid=2630150,uid=1001"
)
OWNER = f" in container run of pod team-a/train-0 (uid {UID})"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a pod's logs, and a process of it."""
    monkeypatch.setattr(pod_names, "LOGS", tmp_path / "log")
    monkeypatch.setattr(pod_names, "PROCESSES", tmp_path / "proc")
    (tmp_path / f"log/pods/team-a_train-0_{UID}").mkdir(parents=True)
    (tmp_path / "log/containers").mkdir()
    (tmp_path / f"log/containers/train-0_team-a_run-{CONTAINER}.log").touch()
    (tmp_path / "proc/5120").mkdir(parents=True)
    (tmp_path / "proc/5120/cgroup").write_text(f"0::{POD}/cri-containerd-{CONTAINER}.scope\n")
    return tmp_path


# Line → reason, subject, condition, words of the message.
LINES = {
    OOM.format(limit=POD): ("OOMKilling", UID, "", f"Container's limit: its memory cgroup was full, and the kernel ended qemu-system-x86 (process 39079){OWNER} (CONSTRAINT_MEMCG)"),
    OOM.format(limit="/kubepods.slice"): ("OOMKilling", UID, "", "Whole node: all pods together used what the node has for them"),
    GLOBAL: ("OOMKilling", UID, "", f"Whole node: the node ran out of memory, and the kernel ended argocd-dex (process 2630150){OWNER} (CONSTRAINT_NONE)"),
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/ltp_19257,task_memcg=/ltp_19257,task=memcg_process,pid=19289,uid=0": ("OOMKilling", "memcg_process", "", "Limit of a service: the memory cgroup /ltp_19257 was full"),
    "NVRM: Xid (PCI:0000:44:00): 31, pid=5120, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS": ("GPUProgramError", f"0000:44:00 31 {UID}", "", f"GPU 0000:44:00: Xid 31, it used memory that is not its own{OWNER}: pid=5120, name=python3, Ch 00000008"),
    "NVRM: Xid (PCI:0000:44:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.": ("GPUOffBus", "0000:44:00", "GPUUnhealthy", "GPU 0000:44:00: Xid 79, it has fallen off the bus: pid='<unknown>'"),
    "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.": ("GPUOffBus", "0000:01:00", "GPUUnhealthy", "Xid 79"),
    "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.": ("GPUWarning", "0000:10:1c 63", "", "Xid 63, a row of memory is to be replaced at its next reset: pid=1896"),
    "NVRM: Xid (PCI:0000:3B:00): 48, pid=1234, name=python": ("GPUMemoryError", "0000:3b:00", "GPUUnhealthy", "GPU 0000:3b:00: Xid 48, "),
    "NVRM: Xid (PCI:0000:9b:00): 94, pid='5120', name=python, Contained: SM (0x1). RST: No, D-RST: No": ("GPUMemoryError", f"0000:9b:00 94 {UID}", "", f"which ended one program{OWNER}: "),
    "NVRM: Xid (PCI:0000:9b:00): 95, pid='<unknown>', name=<unknown>, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No": ("GPUMemoryError", "0000:9b:00", "GPUUnhealthy", "Xid 95, "),
    "NVRM: Xid (PCI:0002:00:00): 119, pid=1582259, name=nvc:[driver], Timeout waiting for RPC from GSP! Expected function 4097 (GSP_INIT_DONE).": ("GPUError", "0002:00:00", "GPUUnhealthy", "its own processor (GSP) does not answer"),
    "NVRM: Xid (PCI:0000:8a:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 6(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)": ("GPULinkError", "0000:8a:00", "GPUUnhealthy", "an NVLink failed"),
    "NVRM: Xid (PCI:0000:17:00): 149, NETIR_LINK_DOWN Fatal   XC0 i0 Link 04 (0x004505c6 0x00000000)": ("GPULinkError", "0000:17:00", "GPUUnhealthy", "Xid 149"),
    "NVRM: Xid (PCI:0000:17:00): 145, RLW_CTRL Nonfatal XC0 i0 Link 04 (0x00000003 0x80000000)": ("GPUWarning", "0000:17:00 145", "", "Xid 145, an NVLink had an error, and goes on: RLW_CTRL"),
    "NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)": ("GPUNeedsAction", "0008:01:00", "GPUUnhealthy", "Xid 154, the driver asks for a reset of the GPU"),
    "NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (OS Reboot)": ("GPUNeedsAction", "0000:01:00", "GPUUnhealthy", "a restart of the machine"),
    "NVRM: Xid (PCI:0000:01:00): 999, nobody knows": ("GPUError", "0000:01:00 999", "", "Xid 999, its meaning is in NVIDIA's Xid catalog"),
    "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)": ("GPUWarning", "0000:05:00.0", "", "NVSwitch 0000:05:00.0: SXid 12028, not fatal: Link 32"),
    "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): 20034, Fatal, Link 30 LTSSM Fault Up": ("GPULinkError", "0000:00:00.0", "GPUUnhealthy", "SXid 20034, fatal: Link 30 LTSSM Fault Up"),
    "EXT4-fs error (device sdb7): ext4_get_branch:171: inode #8: block 30343695: comm jbd2/sdb7-8: invalid block": ("Ext4Error", "sdb7", "", "file system on sdb7: ext4_get_branch:171"),
    "EXT4-fs (sda3): Remounting filesystem read-only": ("FilesystemIsReadOnly", "sda3", "ReadonlyFilesystem", "on sda3 became read-only"),
    "XFS (dm-0): Corruption of in-memory data (0x8) detected at xfs_defer_finish_noroll.  Shutting down filesystem.": ("XfsHasShutdown", "dm-0", "XfsShutdown", "on dm-0 was shut down"),
    "blk_update_request: I/O error, dev nvme0n1, sector 32776 op 0x1:(WRITE) flags 0x3000 phys_seg 6 prio class 0": ("IOError", "nvme0n1", "", "disk nvme0n1: I/O error, sector 32776"),
    "Buffer I/O error on dev sda, logical block 0, lost sync page write": ("IOError", "sda", "", "disk sda: Buffer I/O error, logical block 0"),
    "igc 0000:03:00.0 enp3s0: NIC Link is Down": ("NetworkLinkDown", "enp3s0", "NetworkLinkDown", "the link of enp3s0 is down"),
    "e1000e: eth1 NIC Link is Down": ("NetworkLinkDown", "eth1", "NetworkLinkDown", ""),
    "mlx5_core 0000:12:00.0 ens1f0np0: Link down": ("NetworkLinkDown", "ens1f0np0", "NetworkLinkDown", ""),
    "nfs: server 10.2.80.41 not responding, still trying": ("NFSServerNotResponding", "10.2.80.41", "NFSUnavailable", "NFS server 10.2.80.41 does not answer"),
    "nfs: server 10.2.80.41 not responding, timed out": ("NFSTimedOut", "10.2.80.41", "", ""),
    "INFO: task cryptomgr_test:5120 blocked for more than 120 seconds.": ("TaskHung", "5120", "", f"cryptomgr_test (process 5120){OWNER} is blocked for more than 120 s"),
    "INFO: task DataXceiver for:7494 blocked for more than 120 seconds.": ("TaskHung", "7494", "", "(process 7494) is blocked"),
    "INFO: task containerd-shim:71 blocked for more than 241 seconds.": ("RuntimeHung", "71", "KernelDeadlock", "containerd-shim (process 71) is blocked"),
    "watchdog: BUG: soft lockup - CPU#19 stuck for 22s! [jbd2/pmem0-8:1002]": ("SoftLockup", "CPU 19", "", "stuck in the kernel for 22 s"),
    "BUG: unable to handle page fault for address: 000000330000000a": ("KernelOops", "kernel", "", "BUG: unable to handle page fault"),
    "divide error: 0000 [#1] SMP": ("KernelOops", "kernel", "", "divide error"),
    "unregister_netdevice: waiting for lo to become free. Usage count = 1": ("UnregisterNetDevice", "lo", "", "in use 1 times"),
    "mce: [Hardware Error]: Machine check: Processor context corrupt": ("MachineCheck", "hardware", "", "Processor context corrupt"),
    "[Hardware Error]: Deferred error, no action required.": ("MachineCheck", "hardware", "", "Deferred error"),
    "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)": ("MemoryUncorrectable", "MC0", "", "1 errors that can't be corrected: memory read error on CPU_SrcID#0"),
    "EDAC MC0: 2 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0)": ("MemoryReadError", "MC0", "", "all corrected"),
    "Memory failure: 0x7740c0: Sending SIGBUS to python3:5120 due to hardware memory corruption": ("MemoryFailure", "5120", "", f"python3 (process 5120){OWNER} lost memory"),
}  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:60])
def test_a_line_shows_one_thing(line: str) -> None:
    reason, subject, condition, words = LINES[line]
    (found,) = kernel_lines.findings(line)
    assert (found.reason, found.subject, found.condition, found.well) == (reason, subject, condition, False)
    assert words in found.message
    assert condition in ("", *kernel_rows.WELL)


CLEARS = {
    "nfs: server 10.2.80.41 OK": ("NFSUnavailable", "10.2.80.41"),
    "igc 0000:03:00.0 enp3s0: NIC Link is Up 2500 Mbps Full Duplex, Flow Control: RX/TX": ("NetworkLinkDown", "enp3s0"),
    "mlx5_core 0000:12:00.0 ens1f0np0: Link up": ("NetworkLinkDown", "ens1f0np0"),
    "XFS (dm-0): Mounting V5 Filesystem 0d8e…": ("XfsShutdown", "dm-0"),
    "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.178.04": ("GPUUnhealthy", "*"),
    "NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)": (
        "GPUUnhealthy",
        "0000:01:00",
    ),
}


@pytest.mark.parametrize("line", CLEARS, ids=lambda line: line[:50])
def test_a_line_says_that_all_is_well_again(line: str) -> None:
    (found,) = kernel_lines.findings(line)
    assert (found.condition, found.subject, found.well) == (*CLEARS[line], True)
    assert found.reason == kernel_rows.WELL[found.condition][0]


@pytest.mark.parametrize(
    "line",
    [
        "ata1: SATA link down (SStatus 0 SControl 300)",
        "pcieport 0000:00:01.0: pciehp: Slot(0): Link Down",
        "IPv6: ADDRCONF(NETDEV_UP): eth0: link is not ready",
        "IPv6: ADDRCONF(NETDEV_CHANGE): veth0: link becomes ready",
        "cni0: port 2(veth98016daf) entered forwarding state",
        "Memory cgroup out of memory: Killed process 39079 (qemu-system-x86) total-vm:17829052kB, anon-rss:16806060kB",
        "NVRM: GPU 0000:44:00.0: GPU has fallen off the bus.",
        "nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Severity 1 Engine instance 60 Sub-engine instance 00",
        "blk_update_request: I/O error, dev fd0, sector 0",
        "mce: [Hardware Error]: Machine check events logged",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode",
        "task docker is well",
    ],
)
def test_these_show_nothing(line: str) -> None:
    """Each machine says some of them at each start; others say once more what the line before has said."""
    assert [*kernel_lines.findings(line)] == []


def test_records_of_the_kernel_alone_count() -> None:
    """Others write to the same log, in their own facility: nobody in user space can make a finding."""
    assert kernel_lines.record("6,339,5140900,-;NET: Registered protocol family 10") == (
        339,
        5.1409,
        "NET: Registered protocol family 10",
    )
    assert kernel_lines.record("4,340,5140901,c;nfs: server a; b OK") == (340, 5.140901, "nfs: server a; b OK")
    for other in (
        "12,341,1,-;a user's",
        "30,342,1,-;systemd[1]: Started",
        " SUBSYSTEM=acpi",
        "",
        "6,x,1,-;a",
        "no record",
    ):
        assert kernel_lines.record(other) is None


def test_a_process_of_no_pod_or_no_more_has_no_owner(machine: Path) -> None:
    (machine / "proc/7").mkdir()
    (machine / "proc/7/cgroup").write_text("0::/system.slice/ssh.service\n")
    assert [pod_names.of_process(number) for number in ("7", "8", "x")] == [None, None, None]
    old = pod_names.of_cgroup(f"/kubepods/burstable/pod{UID}/{CONTAINER}")
    assert old == (UID, "team-a/train-0", "run")
    other = pod_names.of_cgroup(f"/kubepods/besteffort/podbe1e663f-f7a1-4b90-bdfd-bb30afdf7c37/{'5' * 64}")
    assert other == ("be1e663f-f7a1-4b90-bdfd-bb30afdf7c37", "unknown", "5" * 12)
    assert pod_names.of_cgroup("/kubepods/burstable/pod" + "a" * 32) == ("a" * 32, "unknown", "")
    assert kernel_lines.owner(pod_names.Pod("u", "unknown", "")) == " of pod unknown (uid u)"


def test_what_burn_in_fails_for_is_known_here() -> None:
    """Some of Azure's list end a program alone, by NVIDIA's catalogue: 68 and 69, and 80."""
    fatal = load().xids.fatal
    assert set(fatal) <= xids.XIDS.keys()
    assert {number for number in fatal if xids.XIDS[number].reason == xids.PROGRAM} == {68, 69, 80}


def test_an_application_s_own_fault_never_lasts() -> None:
    """The device plugin passes over these, too: 13, 31, 43, 45, 68 (109 is the driver's own doubt)."""
    assert {13, 31, 43, 45, 68} <= xids.PROGRAMS.keys()
    assert {one.lasts for one in xids.XIDS.values() if one.reason == xids.PROGRAM} == {"no"}
    assert not xids.PROGRAMS.keys() & xids.BROKEN.keys()

"""What lines of the kernel's log show, as a table. Pure.

Names are node-problem-detector's (its config/kernel-monitor.json) where it has one. What is temporary becomes an event,
what lasts a condition of the node and an event.
"""

from typing import NamedTuple

import xids

SOURCE = "kernel-monitor"
# Condition → reason and message while nothing is wrong.
WELL = {
    "KernelDeadlock": ("KernelHasNoDeadlock", "kernel has no deadlock"),
    "ReadonlyFilesystem": ("FilesystemIsNotReadOnly", "Filesystem is not read-only"),
    "XfsShutdown": ("XfsHasNotShutDown", "XFS has not shutdown"),
    "NTPProblem": ("NTPIsUp", "ntp service is up"),
    # Those that node-problem-detector does not have.
    "GPUUnhealthy": ("GPUsAreHealthy", "the driver reports no broken GPU"),
    "NFSUnavailable": ("NFSServersAnswer", "all NFS servers answer"),
    "NetworkLinkDown": ("NetworkLinksAreUp", "all network links are up"),
    "ServiceUnwell": ("ServicesAreWell", "what this machine serves is well"),
}
# Clears a condition of all its subjects.
ALL = "*"


class Row(NamedTuple):
    """Message and subject have the pattern's groups in braces; `owner` is whose the group `pid` is."""

    pattern: str
    reason: str
    subject: str
    message: str
    condition: str = ""
    well: bool = False


PCI = r"\(PCI:(?P<pci>[0-9a-f:.]+)\)"
# As drivers name it: `enp3s0:`, `eth0`, with the board before it.
CARD = r"(?:^|[ :])(?!SATA\b)(?P<card>[A-Za-z][\w.-]*?):? (?:NIC )?[Ll]ink (?:is )?"
DISK = r"(?P<disk>(?!fd\d|sr\d|loop)[\w.-]+)"
HUNG = r"task (?P<name>{}):(?P<pid>\d+) blocked for more than (?P<seconds>\d+) seconds"

ROWS = (
    Row(
        HUNG.format(r"(?:containerd|containerd-shim|kubelet|runc)[\w.:-]*"),
        "RuntimeHung",
        "{pid}",
        "{name} (process {pid}) is blocked for more than {seconds} s",
        "KernelDeadlock",
    ),
    Row(HUNG.format(".+"), "TaskHung", "{pid}", "{name} (process {pid}){owner} is blocked for more than {seconds} s"),
    Row(
        r"soft lockup - CPU#(?P<cpu>\d+) stuck for (?P<seconds>\d+)s",
        "SoftLockup",
        "CPU {cpu}",
        "CPU {cpu} is stuck in the kernel for {seconds} s",
    ),
    Row(
        r"(?P<text>BUG: unable to handle .*|BUG: kernel NULL pointer .*|kernel BUG at .*|Oops: .*|general protection "
        r"fault.*|divide error: .*|Internal error: .*)",
        "KernelOops",
        "kernel",
        "the kernel failed: {text}",
    ),
    Row(
        r"unregister_netdevice: waiting for (?P<card>\S+) to become free\. Usage count = (?P<count>-?\d+)",
        "UnregisterNetDevice",
        "{card}",
        "the kernel can't let go of network device {card}, which is in use {count} times",
    ),
    Row(
        rf"EXT4-fs \({DISK}\): Remounting filesystem read-only",
        "FilesystemIsReadOnly",
        "{disk}",
        "the file system on {disk} became read-only after errors",
        "ReadonlyFilesystem",
    ),
    Row(
        rf"XFS \({DISK}\):.* [Ss]hutting down filesystem",
        "XfsHasShutdown",
        "{disk}",
        "the file system on {disk} was shut down after errors",
        "XfsShutdown",
    ),
    Row(
        rf"XFS \({DISK}\): Mounting V\d",
        "",
        "{disk}",
        "the file system on {disk} was mounted again",
        "XfsShutdown",
        well=True,
    ),
    Row(rf"EXT4-fs error \(device {DISK}\): (?P<text>.*)", "Ext4Error", "{disk}", "file system on {disk}: {text}"),
    Row(
        rf"(?P<text>Buffer I/O error|I/O error|critical medium error)(?:,| on) dev(?:ice)? {DISK}, (?P<where>.*)",
        "IOError",
        "{disk}",
        "disk {disk}: {text}, {where}",
    ),
    Row(
        r"nfs: server (?P<server>\S+) not responding, still trying",
        "NFSServerNotResponding",
        "{server}",
        "NFS server {server} does not answer",
        "NFSUnavailable",
    ),
    # Of a mount that gives up, which says nothing when the server is back.
    Row(
        r"nfs: server (?P<server>\S+) not responding, timed out",
        "NFSTimedOut",
        "{server}",
        "NFS server {server} did not answer in time",
    ),
    Row(
        r"nfs: server (?P<server>\S+) OK",
        "",
        "{server}",
        "NFS server {server} answers again",
        "NFSUnavailable",
        well=True,
    ),
    Row(rf"{CARD}[Dd]own\b", "NetworkLinkDown", "{card}", "the link of {card} is down", "NetworkLinkDown"),
    Row(rf"{CARD}[Uu]p\b", "", "{card}", "the link of {card} is up again", "NetworkLinkDown", well=True),
    Row(
        r"Memory failure: \S+ (?:Sending SIGBUS to|Killing) (?P<name>.+):(?P<pid>\d+) due to hardware memory",
        "MemoryFailure",
        "{pid}",
        "{name} (process {pid}){owner} lost memory of its own to a broken module",
    ),
    Row(
        r"EDAC (?P<unit>MC\d+): (?P<count>\d+) UE (?P<text>[^(]*)",
        "MemoryUncorrectable",
        "{unit}",
        "memory controller {unit}: {count} errors that can't be corrected: {text}",
    ),
    Row(
        r"EDAC (?P<unit>MC\d+): (?P<count>\d+) CE (?P<text>[^(]*)",
        "MemoryReadError",
        "{unit}",
        "memory controller {unit}: {count} errors, all corrected: {text}",
    ),
    Row(
        r"\[Hardware Error\]: (?P<text>Machine check: .*|Uncorrected.*|Deferred error.*|CPU \d+: Machine Check.*)",
        "MachineCheck",
        "hardware",
        "the processor reports broken hardware: {text}",
    ),
    # With a driver that is loaded anew all GPUs begin anew.
    Row(r"NVRM: loading NVIDIA UNIX ", "", ALL, "NVIDIA's driver was loaded", "GPUUnhealthy", well=True),
    Row(
        rf"SXid {PCI}: (?P<xid>\d+), Fatal, (?P<text>.*)",
        xids.LINK,
        "{pci}",
        "NVSwitch {pci}: SXid {xid}, fatal: {text}",
        "GPUUnhealthy",
    ),
    Row(
        rf"SXid {PCI}: (?P<xid>\d+), Non-fatal, (?P<text>.*)",
        xids.WARNING,
        "{pci}",
        "NVSwitch {pci}: SXid {xid}, not fatal: {text}",
    ),
)

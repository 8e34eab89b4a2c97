"""What a node's own reports show: events and conditions that it makes of its kernel's log and of its mounts. Pure.

Their reasons are those of components/pools/on_machine, kernel_rows.py and xids.py: a test compares. The facts stand in
their words.
"""

import re

# Reason → what it shows.
CODES = {
    "GPUProgramError": "gpu-program",
    "GPUOffBus": "gpu-off-bus",
    "GPUMemoryError": "gpu-ecc",
    "GPULinkError": "gpu-nvlink",
    "GPUError": "gpu-xid",
    "GPUNeedsAction": "gpu-xid",
    "OOMKilling": "oom-of-node",
    "FilesystemIsReadOnly": "disk-readonly",
    "XfsHasShutdown": "disk-readonly",
    "IOError": "disk-error",
    "Ext4Error": "disk-error",
    "MachineCheck": "memory-broken",
    "MemoryUncorrectable": "memory-broken",
    "MemoryFailure": "memory-broken",
    "KernelOops": "kernel-trouble",
    "SoftLockup": "kernel-trouble",
    "TaskHung": "kernel-trouble",
    "RuntimeHung": "kernel-trouble",
    "DockerHung": "kernel-trouble",
    "NetworkLinkDown": "nic-down",
    "NFSServerNotResponding": "nfs-away",
    "NFSTimedOut": "nfs-away",
    "ClockNotSynchronized": "clock-wrong",
}
# What its words make of a code: the first that fits. `elsewhere` is a program of nobody knows whom, and shows nothing.
IN_WORDS = (
    ("oom-of-node", r"^Container's limit", "oom-said"),
    # node-problem-detector's words are the kernel's own.
    ("oom-of-node", r"^Limit of a service|^Memory cgroup out of memory", "elsewhere"),
    ("gpu-program", r"^(?!.* of pod \S+ \(uid )", "elsewhere"),
)
FACTS = (
    re.compile(
        r"^(?:GPU|NVSwitch) (?P<pci>\S+): S?Xid (?P<xid>\d+), (?P<meaning>.+?)(?= in container | of pod |: |; |$)"
    ),
    re.compile(r" of pod (?P<pod>\S+) \(uid (?P<pod_uid>[0-9a-f-]+)\)"),
    re.compile(r" in container (?P<container>\S+) of pod "),
)


def code(reason: str, text: str) -> str | None:
    """None for a reason that shows nothing, and for those of others."""
    found = CODES.get(reason)
    return next((to for of, pattern, to in IN_WORDS if of == found and re.search(pattern, text)), found)


def facts(text: str) -> dict[str, str]:
    """`pod_uid` is there where it concerns that pod alone."""
    found = {name: value for one in FACTS if (match := one.search(text)) for name, value in match.groupdict().items()}
    return {"container": "of it", **found} if "pod_uid" in found else found

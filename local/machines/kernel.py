"""System calls that Python's library lacks: mounts, namespaces, the host's name. Failures are OSError."""

import ctypes
import os
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME = 0x1, 0x2, 0x4, 0x8, 0x400
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MNT_DETACH = 0x2
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWPID = 0x20000, 0x4000000, 0x20000000
CLONE_NEWIPC, CLONE_NEWNET = 0x8000000, 0x40000000
PR_SET_CHILD_SUBREAPER = 36

# The same numbers on every architecture; C libraries older than 2.36 have no names for them.
SYS_OPEN_TREE, SYS_MOVE_MOUNT, SYS_MOUNT_SETATTR = 428, 429, 442
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000
OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH = 0x1, 0x4


IO_CLASSES, IOPRIO_CLASS_SHIFT, IOPRIO_WHO_PROCESS = ("none", "realtime", "best-effort", "idle"), 13, 1
# Of x86-64, and of the architectures with the kernel's common table.
SYS_IOPRIO_SET = 251 if os.uname().machine == "x86_64" else 30


class MountAttributes(ctypes.Structure):
    """The kernel's struct mount_attr."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


# mount(2)'s flags as mount_setattr(2) has them.
ATTRIBUTES = {MS_RDONLY: 0x1, MS_NOSUID: 0x2, MS_NODEV: 0x4, MS_NOEXEC: 0x8, MS_NOATIME: 0x10}
ATTRIBUTE_ATIME = 0x70


def check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
    return result


def mount(source: str, target: Path, kind: str, flags: int = 0, data: str = "") -> None:
    done = LIBC.mount(source.encode(), bytes(target), kind.encode(), ctypes.c_ulong(flags), data.encode())
    check(done, f"{source} on {target}")


def bind(source: Path, target: Path, flags: int = 0) -> None:
    """`source` with all that is mounted in it appears at `target` too, with further flags if given."""
    mount(str(source), target, "none", MS_BIND | MS_REC)
    if flags:
        restrict(target, flags)


def restrict(target: Path, flags: int) -> None:
    """Adds flags to a mount and all below it. Unlike a remount, it keeps those that a user may not clear.

    How access times are kept is one of these on most computers (mount_namespaces(7), "Restrictions on mount
    namespaces"). It changes nothing but speed: an ordinary user goes without it.
    """
    try:
        _set(target, flags)
    except PermissionError:
        if not flags & MS_NOATIME:
            raise
        if rest := flags & ~MS_NOATIME:
            _set(target, rest)


def _set(target: Path, flags: int) -> None:
    wanted = sum(attribute for flag, attribute in ATTRIBUTES.items() if flags & flag)
    # The kinds of access time are one field, which must be cleared to be set.
    cleared = ATTRIBUTE_ATIME if flags & MS_NOATIME else 0
    attributes = MountAttributes(attr_set=wanted, attr_clr=cleared)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    pointer = ctypes.byref(attributes)
    done = LIBC.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, bytes(target), AT_RECURSIVE, pointer, size)
    check(done, f"flags of {target}")


def unmount(target: Path, *, lazy: bool = False) -> None:
    check(LIBC.umount2(bytes(target), MNT_DETACH if lazy else 0), str(target))


def change_root(root: Path) -> None:
    """Makes `root`, a mount point, the root of this mount namespace, and lets the old one go."""
    os.chdir(root)
    # Both at one place: the old root lies over the new one until it is unmounted (pivot_root(2)).
    check(LIBC.pivot_root(b".", b"."), str(root))
    unmount(Path(), lazy=True)
    os.chdir("/")


def clone_mount(source: Path) -> int:
    """A descriptor of a bind of `source` that is attached nowhere yet."""
    flags = OPEN_TREE_CLONE | AT_RECURSIVE | os.O_CLOEXEC
    return check(LIBC.syscall(SYS_OPEN_TREE, AT_FDCWD, bytes(source), flags), str(source))


def attach_mount(descriptor: int, target: Path) -> None:
    done = LIBC.syscall(SYS_MOVE_MOUNT, descriptor, b"", AT_FDCWD, bytes(target), MOVE_MOUNT_F_EMPTY_PATH)
    check(done, str(target))


def enter_mounts(pid: int) -> None:
    """Takes this process, which has one thread only, into the mount namespace of `pid`."""
    handle = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    try:
        check(LIBC.setns(handle, CLONE_NEWNS), f"mount namespace of process {pid}")
    finally:
        os.close(handle)


def own_mounts() -> None:
    """Gives this process, which has one thread only, a mount namespace of its own: nobody else sees what it mounts."""
    check(LIBC.unshare(CLONE_NEWNS), "a mount namespace")
    mount("none", Path("/"), "none", MS_REC | MS_PRIVATE)


def own_rest() -> None:
    """All other namespaces that a machine has; its processes' is that of this process's children."""
    rest = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID
    check(LIBC.unshare(rest), "namespaces of a machine")


def adopt_orphans() -> None:
    """Processes whose parent ends become this one's children, if it was their forebear."""
    check(LIBC.prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0), "adopting orphans")


def children_of(pid: int | None) -> None:
    """The children of this thread are in the namespace of processes of `pid`'s children, or else in a new one.

    The thread can start no other thread from then on.
    """
    if pid is None:
        check(LIBC.unshare(CLONE_NEWPID), "a namespace of processes")
        return
    handle = os.open(f"/proc/{pid}/ns/pid_for_children", os.O_RDONLY)
    try:
        check(LIBC.setns(handle, CLONE_NEWPID), f"namespace of processes of process {pid}")
    finally:
        os.close(handle)


def set_io_class(name: str) -> None:
    """Of this process and of those that it starts (ioprio_set(2)); within a class the middle of its eight levels."""
    number = IO_CLASSES.index(name)
    level = 4 if name in ("realtime", "best-effort") else 0
    check(
        LIBC.syscall(SYS_IOPRIO_SET, IOPRIO_WHO_PROCESS, 0, number << IOPRIO_CLASS_SHIFT | level), f"I/O class {name}"
    )


def set_host_name(name: str) -> None:
    check(LIBC.sethostname(name.encode(), ctypes.c_size_t(len(name.encode()))), name)


def own_host_name(name: str) -> None:
    """Gives this process, which has one thread only, a host name that nobody else has."""
    check(LIBC.unshare(CLONE_NEWUTS), "a namespace of host names")
    set_host_name(name)

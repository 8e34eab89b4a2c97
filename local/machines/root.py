"""A machine's own root folder tree: the host's programs read-only, everything else the machine's own.

It is a new tmpfs that becomes the root (pivot_root), so nothing has to exist on the host, and no file of the host can
be written. Folders that must outlive the machine lie in its `disk` folder, at the paths that they have inside.
"""

import contextlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from . import kernel

REPOSITORY = Path(__file__).resolve().parents[2]
SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix", "gnu")
# Kept in `disk`, with their modes. /root is not closed: the interpreter may lie in a folder below it.
KEPT = {
    "etc": 0o755,
    "var": 0o755,
    "root": 0o711,
    "home": 0o755,
    "srv": 0o755,
    "usr/local/lib/landbridge": 0o755,
    "dev/landbridge": 0o755,
}
FRESH = ("run", "tmp", "dev/shm")
MADE = ("var/lib", "var/log", "var/tmp", "var/cache", "etc/systemd/system", "etc/ssl/certs")
EMPTY = ("mnt", "media", "proc", "sys", "dev", "dev/pts")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = {
    "dev/fd": "/proc/self/fd",
    "dev/stdin": "/proc/self/fd/0",
    "dev/stdout": "/proc/self/fd/1",
    "dev/stderr": "/proc/self/fd/2",
    "dev/ptmx": "pts/ptmx",
    "var/run": "/run",
}
# What programs read in /etc to run at all. The machine gets copies and may change them.
CONFIGURATION = (
    "alternatives",
    "group",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "os-release",
    "passwd",
    "profile",
    "protocols",
    "services",
    "ssl/openssl.cnf",
    f"python{sys.version_info.major}.{sys.version_info.minor}",
)
# The host's own would ask services that are not there, or name servers that cannot be reached.
WRITTEN = {"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n", "resolv.conf": ""}


class Contents(NamedTuple):
    """What is laid into a root: programs by name, volumes by path, and folders at their own paths, read-only."""

    programs: Mapping[str, Path]
    volumes: Mapping[str, Path]
    folders: Sequence[Path]


def build(root: Path, disk: Path, contents: Contents) -> None:
    """Mounts the tree at the folder `root`. Called in the machine's own namespaces, before `kernel.change_root`."""
    # Taken before the new root is there, which may lie below one of them.
    taken = {path: kernel.clone_mount(path) for path in contents.folders}
    kernel.mount("tmpfs", root, "tmpfs", kernel.MS_NODEV, "mode=0755")
    hollow(root, Path(), contents.programs)
    for name in EMPTY:
        (root / name).mkdir(parents=True, exist_ok=True)
    kernel.mount("proc", root / "proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.bind(Path("/sys"), root / "sys", kernel.MS_RDONLY)
    devices(root / "dev")
    for name in FRESH:
        (root / name).mkdir(parents=True, exist_ok=True)
        kernel.mount("tmpfs", root / name, "tmpfs", kernel.MS_NODEV, f"mode={'0755' if name == 'run' else '1777'}")
    for name in KEPT:
        lay(disk / name, root / name)
    for name, leads_to in LINKS.items():
        with contextlib.suppress(FileExistsError):
            (root / name).symlink_to(leads_to)
    for path, descriptor in taken.items():
        target = root / path.relative_to("/")
        target.mkdir(parents=True, exist_ok=True)
        kernel.attach_mount(descriptor, target)
        kernel.restrict(target, kernel.MS_RDONLY)
        os.close(descriptor)
    for name, path in contents.programs.items():
        target = root / "usr/local/bin" / name
        target.touch()
        kernel.bind(path.resolve(), target, kernel.MS_RDONLY)
    for name, path in contents.volumes.items():
        lay(path, root / name.lstrip("/"))
    add_commands(root)


def add_commands(root: Path) -> None:
    for name, text in COMMANDS.items():
        (root / "usr/local/bin" / name).write_text(text)
        (root / "usr/local/bin" / name).chmod(0o755)
    for name, place in ELSEWHERE.items():
        if not (root / place).exists():
            (root / place).touch()
        kernel.bind(root / "usr/local/bin" / name, root / place)


def ours() -> list[Path]:
    """Where this program and its interpreter lie, as far as the system's folders do not hold them."""
    paths = (REPOSITORY, Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve())
    outer = [path for path in paths if path == REPOSITORY or not path.is_relative_to(REPOSITORY)]
    return sorted({path for path in outer if path.parts[1] not in SYSTEM})


def lay(source: Path, target: Path, flags: int = 0) -> None:
    target.mkdir(parents=True, exist_ok=True)
    kernel.bind(source, target, flags)


def hollow(root: Path, at: Path, hidden: Mapping[str, Path]) -> None:
    """Shows the host's folder `at` without those below it that the machine has for itself."""
    own = [Path(name) for name in (*KEPT, *(f"usr/local/bin/{name}" for name in COMMANDS))]
    own += [Path(place) for place in ELSEWHERE.values() if not (Path("/") / place).exists()]
    (root / at).mkdir(parents=True, exist_ok=True)
    host = Path("/") / at
    for entry in sorted(host.iterdir()) if host.is_dir() else ():
        path = at / entry.name
        if (at == Path() and entry.name not in SYSTEM) or path in own:
            continue
        if at == Path("usr/local/bin") and entry.name in hidden:
            continue
        show(root, path, entry, deeper=any(other.is_relative_to(path) for other in own), hidden=hidden)
    for name in {other.parts[len(at.parts)] for other in own if other.is_relative_to(at)}:
        if (at / name) not in own and at != Path() and not (root / at / name).exists():
            (root / at / name).mkdir()


def show(root: Path, path: Path, entry: Path, *, deeper: bool, hidden: Mapping[str, Path]) -> None:
    target = root / path
    if deeper and entry.is_dir() and not entry.is_symlink():
        hollow(root, path, hidden)
    elif entry.is_symlink():
        target.symlink_to(entry.readlink())
    elif entry.is_dir():
        lay(entry, target, kernel.MS_RDONLY)
    elif entry.is_file():
        target.touch()
        kernel.bind(entry, target, kernel.MS_RDONLY)


def devices(folder: Path) -> None:
    for name in DEVICES:
        (folder / name).touch()
        kernel.bind(Path("/dev") / name, folder / name)
    kernel.mount("devpts", folder / "pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, "newinstance,ptmxmode=0666")


def furnish(disk: Path, files: Mapping[str, str], users: tuple[str, ...]) -> None:
    """Makes what the disk's folders need before the first start; what is there stays, but for `files`."""
    for name, mode in KEPT.items():
        (disk / name).mkdir(parents=True, exist_ok=True)
        (disk / name).chmod(mode)
    for name in MADE:
        (disk / name).mkdir(parents=True, exist_ok=True)
    (disk / "var/tmp").chmod(0o1777)
    for name in CONFIGURATION:
        copy(Path("/etc") / name, disk / "etc" / name)
    for name, content in WRITTEN.items():
        if not (disk / "etc" / name).exists():
            (disk / "etc" / name).write_text(content)
    for path, content in files.items():
        target = disk / path.lstrip("/")
        if not target.is_relative_to(disk) or path.lstrip("/").split("/")[0] not in {
            name.split("/")[0] for name in KEPT
        }:
            raise ValueError(f"{path} is not on the machine's disk")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
    add_users(disk / "etc", users)


def copy(source: Path, target: Path) -> None:
    if target.exists() or target.is_symlink() or not source.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


# System users are counted down from here, as images do it.
FIRST_USER = 990


def add_users(etc: Path, users: tuple[str, ...]) -> None:
    """System users of the image, each with a group of its own."""
    for number, user in enumerate(users):
        for name, line in (
            ("passwd", f"{user}:x:{FIRST_USER - number}:{FIRST_USER - number}::/var/lib/{user}:/usr/sbin/nologin\n"),
            ("group", f"{user}:x:{FIRST_USER - number}:\n"),
        ):
            file = etc / name
            text = file.read_text()
            if not any(entry.startswith(f"{user}:") for entry in text.splitlines()):
                file.write_text(text + line)


def command(module: str, *words: str) -> str:
    """A script that runs `main` of one of our modules below `local`."""
    given = f"[*{list(words)!r}, *sys.argv[1:]]"
    program = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); from local.{module} import main; sys.exit(main({given}))"
    )
    return f'#!/bin/sh\nexec {quoted(sys.executable)} -S -E -c {quoted(program)} "$@"\n'


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# What a machine has of its own in /usr/local/bin: the module whose `main` it is, and its first words.
MODULES = {
    "systemctl": ("machines.systemctl",),
    "blkid": ("machines.disk", "blkid"),
    "mkfs.ext4": ("machines.disk", "mkfs.ext4"),
    "blkdiscard": ("machines.disk", "blkdiscard"),
    "kubelet": ("workers.kubelet",),
    "containerd": ("workers.containerd",),
    "sysctl": ("workers.sysctl",),
    "journalctl": ("machines.journalctl",),
}
COMMANDS = {name: command(*words) for name, words in MODULES.items()}
# Where bundles look for one of them; the host's own, if there is one, would do it to the host.
ELSEWHERE = {"sysctl": os.path.realpath("/usr/sbin").lstrip("/") + "/sysctl"}

"""Commands of the system that a bake runs: whether they are there, and what is told when one fails."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import ImageError

LAST_LINES, MOST_SIGNS = 12, 300
# Program → its package, as Debian and Ubuntu call it.
NEEDED = {
    "mmdebstrap": "mmdebstrap",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "sfdisk": "fdisk",
    "mkfs.fat": "dosfstools",
    "mcopy": "mtools",
    "qemu-img": "qemu-utils",
}
# What a boot test runs beside them; its firmware is a file.
BOOT_NEEDED = {
    "setpriv": "util-linux",
    "qemu-system-x86_64": "qemu-system-x86",
    "/usr/share/OVMF/OVMF_CODE_4M.fd": "ovmf",
    "ssh": "openssh-client",
}
SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin"


def cache_folder(name: str) -> Path:
    """Shared by all checkouts of a user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "landbridge" / name


def made(folder: Path, remedy: str) -> Path:
    """The folder, which is there then. Raises ImageError, with what to do, where it can't be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImageError(f"{folder}: {error.strerror}. {remedy}") from None
    return folder


def path() -> str:
    """Of users, too, whose PATH lacks the system's programs."""
    return f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}"


def check(needed: Mapping[str, str], *, root: bool) -> None:
    """Raises ImageError with what to install, or when one has to be root and is not."""
    lacking = sorted({package for what, package in needed.items() if not _there(what)})
    if lacking:
        names = " ".join(lacking)
        raise ImageError(f"Packages are missing on this machine: {names}. Install them: sudo apt-get install {names}")
    if root and os.geteuid() != 0:
        raise ImageError("An image has files of every owner, which root alone can make: run it with sudo")


def _there(what: str) -> bool:
    return Path(what).exists() if what.startswith("/") else shutil.which(what, path=path()) is not None


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None, stdin: str | None = None) -> str:
    """Standard output. Raises ImageError with the end of what the command said."""
    given = {**os.environ, "PATH": path(), "LC_ALL": "C.UTF-8", **(env or {})}
    done = subprocess.run(list(command), input=stdin, capture_output=True, text=True, check=False, env=given)
    if done.returncode:
        output = (done.stdout + done.stderr).strip()
        if "No space left on device" in output:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        last = "\n".join(f"    {line[:MOST_SIGNS]}" for line in output.splitlines()[-LAST_LINES:])
        raise ImageError(f"{Path(command[0]).name} failed ({done.returncode}):\n{last}")
    return done.stdout


def mounted_below(folder: Path) -> list[str]:
    """The deepest first. proc(5): a blank in a place is \\040."""
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    decoded = [place.encode().decode("unicode_escape") for place in places]
    return sorted((place for place in decoded if Path(place).is_relative_to(folder.resolve())), reverse=True)


def remove_tree(folder: Path) -> None:
    """A killed mmdebstrap leaves this machine's own /proc and /sys mounted there: they go first, or all stays."""
    for place in mounted_below(folder):
        subprocess.run(["umount", "--lazy", place], capture_output=True, check=False)
    if not mounted_below(folder):
        shutil.rmtree(folder, ignore_errors=True)


def room(folder: Path, needed_gib: float) -> None:
    """Raises ImageError where a disk has less room; asked before, so that nobody waits for a failure."""
    free_gib = shutil.disk_usage(folder).free / (1 << 30)
    if free_gib < needed_gib:
        raise ImageError(
            f"{folder} has {free_gib:.1f} GiB left, and a bake needs {needed_gib:.0f} GiB. Make room, or name another "
            "disk by LANDBRIDGE_IMAGES"
        )


@contextmanager
def image_umask() -> Iterator[None]:
    """Folders and files that we make have the rights of an image's, whoever bakes."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def explain_full_disk(folder: Path) -> Iterator[None]:
    """A disk that fills up meanwhile is one clear error, too."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ImageError(
            f"The disk of {folder} is full ({error.strerror}); what was half made is removed. Make room, or name "
            "another disk by LANDBRIDGE_IMAGES"
        ) from None

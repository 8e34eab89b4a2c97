"""A root file system in a folder: locked packages by mmdebstrap, our files and programs, nothing of the bake."""

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from .errors import ImageError
from .lock import Lock
from .recipe import ImageSpec
from .running import run

FILES = Path(__file__).with_name("files")
PROGRAMS = "usr/local/bin"
PLUGINS = "opt/cni/bin"
KERNEL = re.compile(r"linux-image-(\d\S+)")
# Scripts of packages that build modules or an initrd ask which kernel runs: it is the image's that will.
SHIM = Path("usr/local/sbin/uname")
UNAME = """\
#!/bin/sh
if [ "$*" = -r ]; then echo '{kernel}'; else exec /usr/bin/uname "$@"; fi
"""
# Where containerd's settings and other programs look for NVIDIA's.
LINKED = ("nvidia-", "usr/bin")
# Nobody reads these on a node; without them it is a fifth smaller.
LEFT_OUT = (
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/share/i18n/locales/*",
    "/usr/share/doc/*",
    "/usr/share/doc-base/*",
    "/usr/share/lintian/*",
    "/usr/share/bug/*",
)
INCLUDED = ("/usr/share/doc/*/copyright",)
# What a bake leaves: keys, logs, caches, and what a machine makes for itself at its first start.
OWN = (
    "etc/ssh/ssh_host_*",
    # Every machine of an image would be the same host to storage.
    "etc/nvme/host*",
    # That of the bake; images have no apt.
    "etc/apt/sources.list",
    "etc/hostname",
    "etc/.pwd.lock",
    "etc/*-",
    "var/log/**/*",
    "var/cache/apt/*",
    "var/cache/debconf/*-old",
    "var/cache/ldconfig/*",
    "var/lib/apt/lists/*",
    "var/lib/dbus/machine-id",
    "var/lib/dpkg/*-old",
    "var/lib/dpkg/lock*",
    "var/lib/dpkg/triggers/Lock",
    "var/lib/systemd/random-seed",
    "var/lib/systemd/credential.secret",
    "var/lib/chrony/*",
    # What modules that were built in the bake are signed by.
    "var/lib/dkms/mok.*",
    "var/tmp/*",
    "tmp/*",
    "run/*",
    "root/.*",
    # Compiled anew wherever it is run by root; its order differs.
    "**/__pycache__",
)
STUB_RESOLV = "../run/systemd/resolve/stub-resolv.conf"


def make(root: Path, lock: Lock, source: str) -> None:
    """Packages into `root`, which must not exist. Raises ImageError."""
    shim = root.parent / "uname"
    shim.write_text(UNAME.format(kernel=_locked_kernel(lock)))
    shim.chmod(0o755)
    rules = [f"path-exclude={path}" for path in LEFT_OUT] + [f"path-include={path}" for path in INCLUDED]
    run(
        [
            "mmdebstrap",
            "--mode=root",
            "--variant=essential",
            "--format=directory",
            f"--include={','.join(package.name for package in lock.packages)}",
            '--aptopt=APT::Install-Recommends "false"',
            *(f"--dpkgopt={rule}" for rule in rules),
            f'--aptopt=DPkg::Path "/{SHIM.parent}:/usr/sbin:/usr/bin:/sbin:/bin"',
            f'--essential-hook=install -D {shim} "$1/{SHIM}"',
            # A suite would choose among the repository's packages by their origin, and ours has none.
            "",
            str(root),
            source,
        ],
        env={"SOURCE_DATE_EPOCH": str(lock.epoch_seconds)},
    )
    (root / SHIM).unlink()
    shim.unlink()
    # Only the bake leaves things out: what somebody adds on a machine comes whole.
    for folder in ("etc/dpkg/dpkg.cfg.d", "etc/apt/apt.conf.d"):
        (root / folder / "99mmdebstrap").unlink(missing_ok=True)


def _locked_kernel(lock: Lock) -> str:
    """Raises ImageError."""
    for package in lock.packages:
        if found := KERNEL.fullmatch(package.name):
            return found[1]
    raise ImageError(f"{lock.file.name} has no kernel. Mend `kernels` in recipe.yaml")


def trees(spec: ImageSpec) -> list[Path]:
    """Folders of our own files, the later over the earlier."""
    found = [FILES / "all", *([FILES / "node"] if spec.variant.node else []), FILES / spec.variant_name]
    return [tree for tree in found if tree.is_dir()]


def files(tree: Path) -> list[Path]:
    """What a folder brings into an image; not what Python has left there, which says nothing of the image."""
    return [file for file in sorted(tree.rglob("*")) if file.is_file() and "__pycache__" not in file.parts]


def finish(root: Path, spec: ImageSpec, programs: Mapping[str, Path], documents: Mapping[str, str]) -> None:
    """Our own on top: files of all images and of the variant, programs, units; `documents` are texts by their path."""
    for tree in trees(spec):
        _lay(tree, root)
    for name, program in programs.items():
        _program(program, root / PROGRAMS / name)
        if name.startswith(LINKED[0]):
            (root / LINKED[1] / name).symlink_to(f"/{PROGRAMS}/{name}")
    for path, text in documents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        (root / path).chmod(0o644)
    _plugins(root)
    for verb, units in (("enable", spec.enabled), ("disable", spec.disabled), ("mask", spec.masked)):
        if units:
            run(["chroot", str(root), "systemctl", "--quiet", verb, *units])
    run(["chroot", str(root), "passwd", "--quiet", "--lock", "root"])


def _lay(tree: Path, root: Path) -> None:
    """With the rights of their place: a checkout's own umask decides nothing."""
    for file in files(tree):
        target = root / file.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        target.chmod(0o755 if file.stat().st_mode & stat.S_IXUSR else 0o644)


def there(program: Path) -> None:
    """Raises ImageError."""
    if not program.exists():
        raise ImageError(f"{program} is missing: it is built by `python3 tools/image.py`, once")


def _program(program: Path, target: Path) -> None:
    there(program)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(program, target)
    target.chmod(0o755)


def _plugins(root: Path) -> None:
    """Where CNI's configurations look for plugins, which Debian has elsewhere."""
    (root / PLUGINS).mkdir(parents=True, exist_ok=True)
    for plugin in sorted((root / "usr/lib/cni").glob("*")):
        link = root / PLUGINS / plugin.name
        link.unlink(missing_ok=True)
        link.symlink_to(f"/usr/lib/cni/{plugin.name}")


def clean(root: Path, epoch_seconds: int) -> None:
    """Takes out what is this bake's own, and sets every time that is later than the packages'."""
    for pattern in OWN:
        for found in sorted(root.glob(pattern), reverse=True):
            if found.is_dir() and not found.is_symlink():
                # Folders below /var/log are their packages': a daemon can't make its own again.
                if not pattern.startswith("var/log"):
                    shutil.rmtree(found)
            else:
                found.unlink()
    (root / "etc/machine-id").write_text("")
    (root / "etc/machine-id").chmod(0o444)
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    (root / "etc/resolv.conf").symlink_to(STUB_RESOLV)
    for path in (*_below(root), root):
        if path.lstat().st_mtime > epoch_seconds:
            os.utime(path, (epoch_seconds, epoch_seconds), follow_symlinks=False)


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root, topdown=False):
        for name in (*files, *folders):
            yield Path(folder) / name


def size_mib(root: Path) -> int:
    """What its files take, in whole blocks and each once."""
    counted: dict[tuple[int, int], int] = {}
    for path in _below(root):
        status = path.lstat()
        counted[status.st_dev, status.st_ino] = -(-status.st_size // 4096) * 4096
    return -(-sum(counted.values()) >> 20)


def kernel(root: Path) -> str:
    """The version of the one kernel. Raises ImageError where there is another number of them."""
    found = sorted(path.name.removeprefix("vmlinuz-") for path in (root / "boot").glob("vmlinuz-*"))
    if len(found) != 1:
        raise ImageError(f"An image has one kernel, and this has {len(found)}: {', '.join(found)}. Mend recipe.yaml")
    return found[0]

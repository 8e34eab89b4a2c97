"""Turns a root file system into disks: GPT with an EFI partition and ext4, as raw, qcow2 and fixed VHD.

No loop device and no mount: the file systems are written as files, and copied to their places. Every id comes of the
contents' digest and every time is the packages', so that the same contents are the same disks. ext4 is made by the
image's own mke2fs: its version is locked, and before 1.47.1 there is no way to set times (SOURCE_DATE_EPOCH, e2fsprogs'
release notes).
"""

import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import vhd
from .baked import Disk, Format, sha256
from .errors import ImageError
from .running import run

MIB = 1 << 20
SECTOR_BYTES = 512
# EFI's own default path for a machine without entries of its own (UEFI 2.10, 3.5.1.1).
LOADER = "EFI/BOOT/BOOTX64.EFI"
STUB = "usr/lib/systemd/boot/efi/systemd-bootx64.efi"
ESP_START_MIB, END_MIB = 1, 1
# Room for the next kernel beside this one.
ESP_SPARE_MIB = 64
# ext4's own tables, and room to start with: the rest comes of growing on the machine's disk.
ROOT_SPARE = 0.12
ROOT_SPARE_MIB = 192
# As systemd's Discoverable Partitions Specification calls a root on x86-64, and EFI's own.
ROOT_TYPE = "4f68bce3-e8cd-4db1-96e7-fbcaf984b709"
ESP_TYPE = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
LABEL = "landbridge"
# The last is what clouds show as a machine's console.
CONSOLES = "console=tty0 console=ttyS0,115200n8"
NAMES: Mapping[Format, str] = {"raw": "disk.raw", "qcow2": "disk.qcow2", "vhd": "disk.vhd"}


def make(root: Path, kernel: str, digest: str, epoch_seconds: int, root_mib: int, folder: Path) -> dict[Format, Disk]:
    """Writes the three disks into `folder`. Raises ImageError."""
    env = {"SOURCE_DATE_EPOCH": str(epoch_seconds), "TZ": "UTC", "MTOOLS_SKIP_CHECK": "1"}
    esp, file_system = folder / "esp.part", folder / "root.part"
    _esp(root, kernel, digest, esp, env)
    _ext4(root, digest, int(root_mib * (1 + ROOT_SPARE)) + ROOT_SPARE_MIB, file_system, env)
    _raw(folder / NAMES["raw"], esp, file_system, digest)
    for part in (esp, file_system):
        part.unlink()
    with ThreadPoolExecutor() as pool:
        raw = folder / NAMES["raw"]
        waiting = [
            pool.submit(_qcow2, raw, folder / NAMES["qcow2"]),
            pool.submit(vhd.convert, raw, folder / NAMES["vhd"], id_of(digest, "vhd"), epoch_seconds),
        ]
        for one in waiting:
            one.result()
        return dict(zip(NAMES, pool.map(_disk, (folder / name for name in NAMES.values())), strict=True))


def id_of(digest: str, what: str) -> str:
    """The same for the same contents, another for each purpose."""
    return str(uuid.uuid5(uuid.UUID(digest[:32]), what))


def _esp(root: Path, kernel: str, digest: str, file: Path, env: Mapping[str, str]) -> None:
    entry = (
        f"title Landbridge\nlinux /vmlinuz\ninitrd /initrd.img\n"
        f"options root=PARTUUID={id_of(digest, 'root')} ro {CONSOLES}\n"
    )
    boot = root / "boot"
    if not (root / STUB).exists():
        raise ImageError(f"{root / STUB} is missing, which starts the kernel: put systemd-boot-efi into recipe.yaml")
    given = {"vmlinuz": boot / f"vmlinuz-{kernel}", "initrd.img": boot / f"initrd.img-{kernel}", LOADER: root / STUB}
    size_mib = sum(path.stat().st_size for path in given.values()) // MIB + ESP_SPARE_MIB
    with file.open("wb") as made:
        made.truncate(size_mib * MIB)
    volume = id_of(digest, "esp")[:8]
    run(["mkfs.fat", "-F", "32", "-n", "ESP", "-i", volume, "--invariant", str(file)], env=env)
    run(["mmd", "-i", str(file), "::EFI", "::EFI/BOOT", "::loader", "::loader/entries"], env=env)
    for name, path in given.items():
        run(["mcopy", "-i", str(file), str(path), f"::{name}"], env=env)
    for name, text in {"loader/loader.conf": "timeout 0\n", "loader/entries/landbridge.conf": entry}.items():
        run(["mcopy", "-i", str(file), "-", f"::{name}"], env=env, stdin=text)


def _ext4(root: Path, digest: str, size_mib: int, file: Path, env: Mapping[str, str]) -> None:
    seed = id_of(digest, "hashes")
    options = ["-U", id_of(digest, "file system"), "-E", f"hash_seed={seed},root_owner=0:0", "-L", LABEL, "-m", "1"]
    run(
        [
            *_own(root, "usr/sbin/mke2fs"),
            "-q",
            "-F",
            "-t",
            "ext4",
            "-d",
            str(root),
            *options,
            str(file),
            f"{size_mib}M",
        ],
        env={**env, "MKE2FS_CONFIG": str(root / "etc/mke2fs.conf")},
    )


def _own(root: Path, program: str) -> list[str]:
    """The command line that runs an image's own program with its own libraries, outside of it."""
    library = root / "usr/lib/x86_64-linux-gnu"
    return [str(root / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", str(library), str(root / program)]


def _raw(raw: Path, esp: Path, file_system: Path, digest: str) -> None:
    sizes = [part.stat().st_size for part in (esp, file_system)]
    starts = [ESP_START_MIB * MIB, ESP_START_MIB * MIB + sizes[0]]
    with raw.open("wb") as disk:
        disk.truncate(starts[1] + sizes[1] + END_MIB * MIB)
    table = [
        "label: gpt",
        f"label-id: {id_of(digest, 'disk')}",
        *(
            f"start={start // SECTOR_BYTES}, size={size // SECTOR_BYTES}, type={kind}, "
            f"uuid={id_of(digest, name)}, name={name}"
            for start, size, kind, name in zip(starts, sizes, (ESP_TYPE, ROOT_TYPE), ("esp", "root"), strict=True)
        ),
    ]
    run(["sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", str(raw)], stdin="\n".join(table) + "\n")
    for part, start in zip((esp, file_system), starts, strict=True):
        _copy(part, raw, start)


def _copy(part: Path, disk: Path, start: int) -> None:
    """Leaves out what is zero: the file stays as sparse as it is empty."""
    zeros = bytes(MIB)
    with part.open("rb") as source, disk.open("r+b") as target:
        for n in range(part.stat().st_size // MIB):
            if (block := source.read(MIB)) != zeros:
                target.seek(start + n * MIB)
                target.write(block)


def _qcow2(raw: Path, qcow2: Path) -> None:
    run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-c", "-o", "compression_type=zstd", str(raw), str(qcow2)])


def _disk(file: Path) -> Disk:
    return Disk(file=file.name, size_bytes=file.stat().st_size, sha256=sha256(file))

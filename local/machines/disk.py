"""What works on disks on local machines, where a volume is a folder: `python -m local.machines.disk blkid …`.

A volume's folder holds `data` and a record that tells its file system. The calls that are honoured are those that
bundles and drills make: `blkid -o value -s TYPE DEVICE`, `mkfs.ext4 -q [-F] DEVICE` and
`blkdiscard --force --zeroout --length 1MiB DEVICE`, after which a disk is blank.
"""

import json
import sys
from pathlib import Path
from typing import Any

RECORD = "volume.json"
# blkid(8): "If the specified device … could not be identified … an exit status of 2 is returned."
UNKNOWN, USAGE = 2, 4


def record(device: Path) -> dict[str, Any] | None:
    """What is known of a volume; None for what is none."""
    file = device / RECORD
    if not file.is_file():
        return None
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def blkid(words: list[str]) -> int:
    if len(words) != 5 or words[:4] != ["-o", "value", "-s", "TYPE"]:
        sys.stderr.write("Local machines honour: blkid -o value -s TYPE DEVICE\n")
        return USAGE
    found = record(Path(words[4]))
    if not found or not found["type"]:
        return UNKNOWN
    sys.stdout.write(f"{found['type']}\n")
    return 0


def mkfs(kind: str, words: list[str]) -> int:
    options, devices = [w for w in words if w.startswith("-")], [w for w in words if not w.startswith("-")]
    if set(options) - {"-q", "-F"} or len(devices) != 1:
        sys.stderr.write(f"Local machines honour: mkfs.{kind} [-q] [-F] DEVICE\n")
        return 1
    device = Path(devices[0])
    found = record(device)
    if found is None:
        sys.stderr.write(f"mkfs.{kind}: {device} is no volume\n")
        return 1
    if found["type"] and "-F" not in options:
        sys.stderr.write(
            f"{device} contains a {found['type']} file system\nmkfs.{kind}: it is not made anew without -F\n"
        )
        return 1
    if in_use(device):
        sys.stderr.write(f"{device} is mounted; will not make a filesystem here!\n")
        return 1
    make_empty(device, kind)
    return 0


def blkdiscard(words: list[str]) -> int:
    if len(words) != 5 or words[:4] != ["--force", "--zeroout", "--length", "1MiB"]:
        sys.stderr.write("Local machines honour: blkdiscard --force --zeroout --length 1MiB DEVICE\n")
        return 1
    device = Path(words[4])
    if record(device) is None:
        sys.stderr.write(f"blkdiscard: {device} is no volume\n")
        return 1
    if in_use(device):  # the kernel's file system would go on with what it remembers: nothing here can do that
        sys.stderr.write(f"blkdiscard: {device} is mounted\n")
        return 1
    make_empty(device, "")
    return 0


def make_empty(device: Path, kind: str) -> None:
    """Empty, with this file system on it, or with none."""
    empty(device / "data")
    draft = device / f"{RECORD}.new"
    draft.write_text(json.dumps({**(record(device) or {}), "type": kind}))
    draft.replace(device / RECORD)


def in_use(device: Path) -> bool:
    path = f"/{json.loads((device / RECORD).read_text())['id']}/data"
    return any(line.split()[3].endswith(path) for line in Path("/proc/self/mountinfo").read_text().splitlines())


def empty(folder: Path) -> None:
    import shutil

    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def main(arguments: list[str] | None = None) -> int:
    name, *words = sys.argv[1:] if arguments is None else arguments
    if name == "blkdiscard":
        return blkdiscard(words)
    return blkid(words) if name == "blkid" else mkfs(name.removeprefix("mkfs."), words)


if __name__ == "__main__":
    sys.exit(main())

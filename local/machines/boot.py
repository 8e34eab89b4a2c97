"""From a new process in new namespaces to a machine's init: what the zygote's fork runs.

Reads the machine's machine.json; keeps the folder locked; makes the root, and becomes
init. Tells the descriptor `ready` one JSON line: {} when init answers, {"error": …} when there is no machine.
"""

import contextlib
import fcntl
import json
import os
import sys
from pathlib import Path

from . import init, kernel, root

# Answers come from where the planned routes lead, however many interfaces a machine has.
SETTINGS = {"net/ipv4/conf/all/rp_filter": "0", "net/ipv4/conf/default/rp_filter": "0"}


def main(folder: Path, lifeline: int, ready: int) -> None:
    for descriptor in (lifeline, ready):
        fcntl.fcntl(descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    try:
        spec = json.loads((folder / "machine.json").read_text())
        lock = lock_folder(folder)
        kernel.set_host_name(spec["name"])
        for name, value in SETTINGS.items():
            with contextlib.suppress(OSError):
                (Path("/proc/sys") / name).write_text(value)
        programs = {name: Path(path) for name, path in spec["programs"].items()}
        volumes = {name: Path(path) for name, path in spec["volumes"].items()}
        contents = root.Contents(programs, volumes, [Path(path) for path in spec["folders"]])
        root.build(folder / "root", folder / "disk", contents)
        kernel.change_root(folder / "root")
        os.umask(0o022)
    except (OSError, ValueError) as error:
        os.write(ready, (json.dumps({"error": str(error)}) + "\n").encode())
        sys.exit(1)
    os.environ.clear()
    # `lock` stays open for as long as the machine lives.
    init.run(lifeline, ready)
    os.close(lock)


def lock_folder(folder: Path) -> int:
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(f"a machine is running in {folder} already") from None
    return descriptor

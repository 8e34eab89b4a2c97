"""CPU seconds of a local machine from its start until its node is Ready, and the memory that it takes then.

Site hosts of the example's pool boot its bundle beside a real API server, one after another. What counts is all that
the machine's processes and whoever starts it take; the API server does not. The ratio is to one Python that imports
the kubelet's stand-in, in the same run: what each program on a machine would take at least if it were executed.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from local import namespace
from local.machines.processes import table
from tests.local.machines.host import Host
from tests.local.workers import machine_bed

# Hosts that the bed's table of pools knows.
HOSTS, ROUNDS, PATIENCE_SECONDS = ("host-1", "host-2"), 5, 120
TICKS = os.sysconf("SC_CLK_TCK")


def below(parent: int) -> set[int]:
    """All processes that descend from one."""
    everyone, found, grown = table(), {parent}, True
    while grown:
        born = {one.pid for one in everyone.values() if one.parent in found and one.pid not in found}
        found |= born
        grown = bool(born)
    return found - {parent}


def cpu(pid: int) -> float:
    """Its own seconds, and those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(one) for one in fields[11:15]) / TICKS


def memory_mib(pid: int) -> float:
    """Pages that several share count in part."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.split("\nPss:")[1].split()[0]) / 1024


def python_seconds() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(ROUNDS):
        subprocess.run([sys.executable, "-S", "-E", "-c", "import local.workers.kubelet"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / ROUNDS


def join(host: Host, name: str, authority: str, keeper: int) -> tuple[float, float]:
    """Seconds of CPU and MiB of one machine."""
    before, began = below(keeper), cpu(keeper)
    box = machine_bed.boot(host, name, authority)
    spent = cpu(keeper) - began
    machine_bed.retried(lambda: machine_bed.ready(box), PATIENCE_SECONDS)
    mine = below(keeper) - before
    return spent + sum(cpu(pid) for pid in mine), sum(memory_mib(pid) for pid in mine)


def main() -> None:
    one = python_seconds()
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as folder:
        host = Host(Path(folder), ["unshare", *namespace.usable_mode().make])
        try:
            authority = machine_bed.control_plane(host, Path(folder) / "bed")
            # Its number out here: it may have another inside.
            keeper = next(pid for pid in {host.process.pid, *below(host.process.pid)} if serves(pid))
            for number, name in enumerate(HOSTS):
                seconds, mib = join(host, name, authority, keeper)
                first = " (with the zygote's start)" if number == 0 else ""
                print(
                    f"{name}: {seconds:.2f} CPU seconds from its start to Ready, {seconds / one:.1f} times a Python that "
                    f"imports the kubelet ({one:.2f} s); {mib:.0f} MiB{first}",
                    flush=True,
                )
        finally:
            host.close()


def serves(pid: int) -> bool:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return words[0] != b"unshare" and any(one.endswith(b"host.py") for one in words)


if __name__ == "__main__":
    main()

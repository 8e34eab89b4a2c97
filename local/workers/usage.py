"""What the processes of this machine use, as the kubelet tells it at /metrics/resource.

Local machines have no cgroups of their own, but each is a namespace of processes, and so is each container: who counts
is whoever is in it. A process that has ended counts on in the one that waited for it.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
# proc(5), /proc/PID/stat: own and waited-for children's time in user and kernel mode; after the name, which may hold
# anything.
TIMES = slice(11, 15)


class Used(NamedTuple):
    """Seconds of a CPU since the beginning, and bytes of memory."""

    cpu: float = 0.0
    memory: int = 0

    def plus(self, other: "Used") -> "Used":
        return Used(self.cpu + other.cpu, self.memory + other.memory)


class Container(NamedTuple):
    """`pid` is its process 1 as this machine sees it, `started` a moment of Unix time."""

    namespace: str
    pod: str
    name: str
    pid: int
    started: float


def text(containers: Iterable[Container], now: float) -> str:
    """In Prometheus' format, with the kubelet's own names: what upstream's metrics-server reads of it."""
    of_node, of_spaces = Used(), dict[str, Used]()
    for space, used in processes():
        of_node = of_node.plus(used)
        of_spaces[space] = of_spaces.get(space, Used()).plus(used)
    rows = [
        ("node_cpu_usage_seconds_total", "", of_node.cpu),
        ("node_memory_working_set_bytes", "", of_node.memory),
    ]
    for one in containers:
        # One that has ended meanwhile uses nothing any more.
        with contextlib.suppress(OSError, KeyError):
            used, labels = of_spaces[_space(one.pid)], _labels(one)
            rows += [
                ("container_cpu_usage_seconds_total", labels, used.cpu),
                ("container_memory_working_set_bytes", labels, used.memory),
                ("container_start_time_seconds", labels, one.started),
            ]
    at = int(now * 1000)
    return "".join(f"{name}{labels} {value:.3f} {at}\n" for name, labels, value in sorted(rows))


def _labels(one: Container) -> str:
    return f'{{container="{one.name}",namespace="{one.namespace}",pod="{one.pod}"}}'


def processes() -> Iterator[tuple[str, Used]]:
    """Of each that is seen here, its namespace of processes."""
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                yield _space(int(folder.name)), Used(_cpu(folder), _memory(folder))
            except (OSError, ValueError):
                # It has ended, or it is the kernel's own.
                continue


def _space(pid: int) -> str:
    """Raises OSError for a process that is no more."""
    return str((PROC / str(pid) / "ns/pid").readlink())


def _cpu(folder: Path) -> float:
    _, _, after = (folder / "stat").read_text().rpartition(") ")
    return sum(int(field) for field in after.split()[TIMES]) / TICKS


def _memory(folder: Path) -> int:
    """Its share of what it has in common with others, for machines are born of each other."""
    for line in (folder / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0

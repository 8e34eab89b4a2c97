"""Whose a process is, by its cgroup: the pod's uid, and the names that the kubelet's folders of logs have for it."""

import re
from pathlib import Path
from typing import NamedTuple

LOGS = Path("/var/log")
PROCESSES = Path("/proc")
# Of both drivers, systemd's with underscores. A static pod's uid is a digest.
CGROUP = re.compile(
    r"pod(?P<uid>[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})"
    r"(?:\.slice)?(?:/(?:cri-containerd-)?(?P<container>[0-9a-f]{64}))?"
)


class Pod(NamedTuple):
    """`name` is NAMESPACE/NAME. Where the logs have no name of the container, it is the beginning of its id."""

    uid: str
    name: str
    container: str


def of_cgroup(text: str) -> Pod | None:
    found = CGROUP.search(text)
    if found is None:
        return None
    uid, container = found["uid"].replace("_", "-"), found["container"] or ""
    folder = next(iter(sorted(LOGS.glob(f"pods/*_*_{uid}"))), None)
    name = "/".join(folder.name.split("_")[:2]) if folder else "unknown"
    log = next(iter(sorted(LOGS.glob(f"containers/*-{container}.log"))), None) if container else None
    # POD_NAMESPACE_CONTAINER-ID.log
    short = log.name.split("_")[-1].removesuffix(f"-{container}.log") if log else container[:12]
    return Pod(uid, name, short)


def of_process(number: str) -> Pod | None:
    """None for one that has gone, or is no pod's."""
    try:
        return of_cgroup((PROCESSES / str(int(number)) / "cgroup").read_text())
    except (OSError, ValueError):
        return None

"""Where the programs lie that machines get: what the toolchain builds, by the version of Kubernetes in the image."""

import os
import shutil
from pathlib import Path

from local import kubernetes
from local.kubernetes import BIN, SERVERS

# Laid in where somebody has built them; pods that need one wait for it and say so.
OPTIONAL = (
    *("cluster-autoscaler", "kueue", "jobset"),
    *("prometheus", "promtool", "alertmanager", "kube-state-metrics", "node_exporter", "metrics-server"),
    *("victoria-logs", "vlagent"),
)
PROGRAMS = ("etcd", "etcdctl", "etcdutl", *SERVERS, "kubectl", "kwok")


# Program → those of the system that may stand for it. Debian 12 and Ubuntu 22.04 have no Valkey; the Redis that they
# have is what it was forked from.
OF_SYSTEM = {"valkey-server": ("valkey-server", "redis-server")}


def of_system() -> dict[str, Path]:
    """Name → file, of those that are there."""
    found = {name: next(filter(None, map(shutil.which, words)), None) for name, words in OF_SYSTEM.items()}
    return {name: Path(file) for name, file in found.items() if file}


def of(version: str) -> dict[str, Path]:
    """Name → file, of those that are there."""
    found = {name: (kubernetes.folder(version) if name in SERVERS else BIN) / name for name in (*PROGRAMS, *OPTIONAL)}
    return {**of_system(), **{name: file for name, file in found.items() if os.access(file, os.X_OK)}}


def missing(version: str) -> list[str]:
    return [name for name in PROGRAMS if name not in of(version)]

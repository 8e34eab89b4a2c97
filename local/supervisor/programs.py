"""Where the programs lie that machines get: what the toolchain builds, by the version of Kubernetes in the image."""

import os
from pathlib import Path

from local import kubernetes
from local.kubernetes import BIN, SERVERS

# Laid in where somebody has built them; pods that need one wait for it and say so.
OPTIONAL = ("cluster-autoscaler", "kueue", "jobset")
PROGRAMS = ("etcd", "etcdctl", "etcdutl", *SERVERS, "kubectl", "kwok")


def of(version: str) -> dict[str, Path]:
    """Name → file, of those that are there."""
    found = {name: (kubernetes.folder(version) if name in SERVERS else BIN) / name for name in (*PROGRAMS, *OPTIONAL)}
    return {name: file for name, file in found.items() if os.access(file, os.X_OK)}


def missing(version: str) -> list[str]:
    return [name for name in PROGRAMS if name not in of(version)]

"""Which versions of Kubernetes local machines can run, and where their servers lie; tools/ builds them."""

import os
from pathlib import Path

import installation

BIN = installation.BIN
OLDER = installation.PROGRAMS / "kubernetes"
# The first is built at set-up, the others by the first `landbridge up --local` that needs them.
VERSIONS = ("1.36.2", "1.35.8")
BUILT_IN = VERSIONS[0]
SERVERS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


def folder(version: str) -> Path:
    return BIN if version == BUILT_IN else OLDER / version


def lacks(version: str) -> list[str]:
    """Which of the servers of a version are not there yet."""
    return [name for name in SERVERS if not os.access(folder(version) / name, os.X_OK)]

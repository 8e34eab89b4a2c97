"""The versions of Kubernetes that clusters ask for on the local cloud: refused, or built before anything starts.

Building needs the network, which nothing inside the local cloud has: it happens before a command enters.
"""

import subprocess
import sys
from collections.abc import Iterable

import installation
from fleet.errors import FleetError, Problem
from fleet.loader import load_with_lines
from fleet.world import World
from landbridge import loudness
from landbridge.errors import LandbridgeError
from local import kubernetes
from stacks.catalogue import StackSpec

from .enter import ROOT

BUILDER = ROOT / "tools/kubernetes_version.py"


def check(world: World, stacks: Iterable[StackSpec]) -> None:
    """Raises FleetError, with lines, for clusters whose version the local cloud can't run."""
    versions = asked_for(world, stacks)
    if not [name for name, version in versions.items() if version not in kubernetes.VERSIONS]:
        return
    loaded = load_with_lines(world.path)
    has = ", ".join(kubernetes.VERSIONS)
    raise FleetError(
        Problem(
            loaded.file,
            loaded.lines.of(("clusters", name, "kubernetes")),
            f"cluster {name} asks for Kubernetes {version}, which the local cloud can't run",
            f"It has {has}",
        )
        for name, version in versions.items()
        if version not in kubernetes.VERSIONS
    )


def build(world: World, stacks: Iterable[StackSpec]) -> None:
    """Builds what clusters ask for and is not there yet: once, minutes, with progress. Raises LandbridgeError."""
    for version in sorted(set(asked_for(world, stacks).values())):
        build_version(version)


def build_version(version: str) -> None:
    """One of `kubernetes.VERSIONS`. Raises LandbridgeError."""
    if not kubernetes.lacks(version):
        return
    if version == kubernetes.BUILT_IN:
        raise LandbridgeError(f"Kubernetes {version} is not in {kubernetes.BIN}: run {installation.SETUP_LOCAL}.")
    # What it tells goes to stderr: stdout is the command's own.
    done = subprocess.run([sys.executable, str(BUILDER), version], stdout=loudness.aside(), check=False)
    if done.returncode != 0:
        there = ", ".join(other for other in kubernetes.VERSIONS if not kubernetes.lacks(other))
        raise LandbridgeError(
            f"Kubernetes {version} could not be built, and nothing was started. Building takes the network, once; "
            f"of those that are there it takes nothing: {there or 'none'}."
        )


def asked_for(world: World, stacks: Iterable[StackSpec]) -> dict[str, str]:
    return {stack.name: world.fleet.clusters[stack.name].kubernetes for stack in stacks if stack.kind == "cluster"}

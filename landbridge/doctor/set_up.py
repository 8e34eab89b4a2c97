"""Set-up: the folder of all state, room on its disk, programs, and packages as they were pinned."""

import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from importlib import metadata

import installation
from landbridge import places
from landbridge.cluster import kube
from landbridge.errors import UsageError
from landbridge.local import enter
from local import client, kubernetes

from .finding import Finding
from .subject import Patient

AREA = "set-up"
ROOM_GIB, LITTLE_GIB = 0.25, 2.0
LOCK = "requirements.lock"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ \\;]+)(.*)$", re.MULTILINE)
NAMED = 3


def look(patient: Patient) -> Iterator[Finding]:
    yield from _folder()
    yield from _programs(patient)
    yield from _packages()


def _folder() -> Iterator[Finding]:
    there = next(folder for folder in (enter.HOME, *enter.HOME.parents) if folder.is_dir())
    free_gib = shutil.disk_usage(there).free / 1024**3
    if free_gib < LITTLE_GIB:
        yield Finding(
            AREA,
            "broken" if free_gib < ROOM_GIB else "soon",
            f"{enter.HOME}, where state and logs lie, has {free_gib:.1f} GiB free",
            "Make room there, or name another folder in the environment variable LANDBRIDGE_HOME",
        )


def _programs(patient: Patient) -> Iterator[Finding]:
    for program in (places.pulumi_root, kube.kubectl):
        try:
            program()
        except UsageError as error:
            what, _, remedy = str(error).partition(". ")
            yield Finding(AREA, "broken", what, remedy)
    if patient.home is None:
        return
    missing = [name for name in client.PROGRAMS if shutil.which(name) is None]
    if missing:
        packages = " ".join(sorted({client.PROGRAMS[name] for name in missing}))
        yield Finding(AREA, "broken", f"the local cloud needs {', '.join(missing)} on the PATH", f"Install {packages}")
    clusters = patient.world.fleet.clusters.values() if patient.world else ()
    for version in sorted({cluster.kubernetes for cluster in clusters} & set(kubernetes.VERSIONS)):
        if lacking := kubernetes.lacks(version):
            # Those that are not built in come with the first `up` that needs them.
            remedy = installation.SETUP_LOCAL if version == kubernetes.BUILT_IN else patient.command("up")
            text = f"local machines have no {', '.join(lacking)} of Kubernetes {version}"
            yield Finding(AREA, "broken", text, f"{remedy} builds them")


def _packages() -> Iterator[Finding]:
    lock = enter.ROOT / LOCK  # no wheel has it: who installs one has other packages beside
    others = differing(lock.read_text()) if lock.is_file() else []
    if others:
        text = "; ".join(others[:NAMED]) + (f"; and {len(others) - NAMED} more" if len(others) > NAMED else "")
        yield Finding(AREA, "ailing", f"Python packages are not those of {LOCK}: {text}", installation.SETUP)


def differing(lock: str) -> list[str]:
    """Pinned packages that are here in another version, or not at all. One may be pinned for several Pythons."""
    pinned = defaultdict[str, list[tuple[str, str]]](list)
    for name, version, rest in PINNED.findall(lock):
        pinned[name].append((version, rest))
    found = []
    for name, versions in pinned.items():
        try:
            here = metadata.version(name)
        except metadata.PackageNotFoundError:
            if not all(";" in rest for _, rest in versions):  # else it may be another system's
                found.append(f"{name} is missing")
            continue
        if here not in (version for version, _ in versions):
            found.append(f"{name} is {here}, pinned is {versions[0][0]}")
    return found

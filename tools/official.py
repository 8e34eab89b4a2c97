"""Programs on the PATH that are taken as they are: of versions that go with ours, and none of our own links."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from go_tools import KUBERNETES

# Said once, in Pulumi.yaml, where Pulumi itself reads it: from the engine that all tests pass with to Pulumi's next
# major version.
PROJECT = Path(__file__).resolve().parents[1] / "Pulumi.yaml"
BOUNDS = re.compile(r'^requiredPulumiVersion: ">=(\S+) <(\S+)"$', re.MULTILINE)
# Between kubectl and API servers: https://kubernetes.io/releases/version-skew-policy/.
SKEW = 1


def pulumi(path: str, own: Path) -> Path | None:
    """The folder of an engine in bounds with its Python host beside it, outside our own folder."""
    if not (folder := _folder("pulumi", path, own)) or not (folder / "pulumi-language-python").exists():
        return None
    least, below = (number(bound) for bound in bounds())
    return folder if least <= number(_output(folder / "pulumi", "version")) < below else None


def bounds() -> tuple[str, str]:
    """The least engine, and the least that is too new."""
    found = BOUNDS.search(PROJECT.read_text())
    assert found is not None
    return found[1], found[2]


def kubectl(path: str, own: Path) -> Path | None:
    """The folder of one that Kubernetes allows with our version, outside our own folder."""
    if not (folder := _folder("kubectl", path, own)):
        return None
    try:
        said = json.loads(_output(folder / "kubectl", "version", "--client", "--output=json"))["clientVersion"]
    except (ValueError, KeyError, TypeError):
        return None
    (major, minor, *_), ours = number(said.get("gitVersion", "")) or (0, 0), number(KUBERNETES)
    return folder if major == ours[0] and abs(minor - ours[1]) <= SKEW else None


def number(version: str) -> tuple[int, ...]:
    """Of `v3.259.0`, and of what a distribution makes of it; empty, which is less than all, where it is none."""
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version.strip())
    return tuple(int(part) for part in found.groups()) if found else ()


def _folder(name: str, path: str, own: Path) -> Path | None:
    """Where the first of that name lies that is not one of our own links."""
    elsewhere = [part for part in path.split(os.pathsep) if part and Path(part).resolve() != own.resolve()]
    found = shutil.which(name, path=os.pathsep.join(elsewhere))
    return Path(found).resolve().parent if found else None


def _output(program: Path, *words: str) -> str:
    """Empty where it can't be run."""
    try:
        return subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""

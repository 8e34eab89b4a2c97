"""Whether a Go that a package registry gave is the one that Go's makers publish.

go.lock holds the registry's package by its SHA-256. toolchain.lock holds the same Go as Go's checksum database has it,
a log that everybody sees the same of, by the name of `golang.org/toolchain`. Two strangers have to agree.
"""

import base64
import hashlib
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from running import SetupError

MODULE = "golang.org/toolchain"
PLATFORMS = ("linux-amd64", "linux-arm64")
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
# What the registry's package has beside Go, and nobody needs.
BESIDE = ("__init__.py", "misc")
# Files right below Go's own folder that the package has; the makers' documents beside them it leaves out.
TOP = ("VERSION", "go.env")
HEAD = (
    "# Written by `make lock`: Go as its makers publish it, and the documents that the registry's package leaves out."
)


class Toolchain(NamedTuple):
    """`sums` are by platform, as go.sum has them; `left_out` is name → SHA-256."""

    version: str
    sums: Mapping[str, str]
    left_out: Mapping[str, str]


def read(file: Path) -> Toolchain:
    """Raises SetupError."""
    words = [line.split() for line in file.read_text().splitlines() if line and not line.startswith("#")]
    sums = {line[1]: line[2] for line in words if line[0] == "sum" and len(line) == 3}
    left_out = {line[2]: line[1] for line in words if line[0] == "document" and len(line) == 3}
    versions = [line[1] for line in words if line[0] == "go" and len(line) == 2]
    if len(versions) != 1 or len(words) != 1 + len(sums) + len(left_out):
        raise SetupError(f"{file.name} is not as `make lock` writes it. Take it from git again")
    return Toolchain(versions[0], sums, left_out)


def written(toolchain: Toolchain) -> str:
    sums = (f"sum {name} {value}" for name, value in sorted(toolchain.sums.items()))
    documents = (f"document {value} {name}" for name, value in sorted(toolchain.left_out.items()))
    return "\n".join([HEAD, f"go {toolchain.version}", *sums, *documents]) + "\n"


def here() -> str:
    return f"{sys.platform}-{MACHINES.get(platform.machine(), platform.machine())}"


def name(version: str, on: str) -> str:
    """The module's version, as the checksum database calls it."""
    return f"v0.0.1-go{version}.{on}"


def check(go: Path, lock: Path, on: str | None = None) -> None:
    """Removes what is not Go's from the folder `go`, and raises SetupError where the rest is not what is published."""
    toolchain, on = read(lock), on or here()
    if on not in toolchain.sums:
        raise SetupError(
            f"{lock.name} has no checksum of Go for {on}. Put your own Go on the PATH, {toolchain.version} or newer"
        )
    for one in BESIDE:
        shutil.rmtree(go / one) if (go / one).is_dir() else (go / one).unlink(missing_ok=True)
    found = h1(f"{MODULE}@{name(toolchain.version, on)}", {**toolchain.left_out, **_files(go)})
    if found != toolchain.sums[on]:
        raise SetupError(
            f"the Go that the registry gave is not the one that its makers publish: it is {found}, and Go's checksum "
            f"database has {toolchain.sums[on]} for Go {toolchain.version} on {on}. It was not used. Tell whoever runs "
            "your mirror, and take Go from another one, or put a Go of your own on the PATH"
        )


def _files(go: Path) -> dict[str, str]:
    """Path as the module has it → SHA-256. A link is no file: what it points to lies elsewhere and may change."""
    found = {}
    for path in sorted(go.rglob("*")):
        if path.is_symlink():
            raise SetupError(f"the Go that the registry gave has a link in it, {path.relative_to(go)}. It was not used")
        if path.is_file():
            # A go.mod would end the module there: the makers rename it in theirs.
            inside = re.sub(r"(^|/)go\.mod$", r"\1_go.mod", path.relative_to(go).as_posix())
            found[inside] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def h1(module: str, files: Mapping[str, str]) -> str:
    """As `go.sum` has it: https://go.dev/ref/mod#go-sum-files. `files` is path → SHA-256."""
    lines = "".join(f"{files[path]}  {module}/{path}\n" for path in sorted(files, key=str.encode))
    return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()

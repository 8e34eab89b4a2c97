"""The Go programs that this checkout has built, and what each is made of, by what Go wrote into it."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import go_tools
import sets

# Below .landbridge: where set-up, bakes and benchmarks link what they build.
FOLDERS = ("bin", "image", "add-ons", "languages", "kubernetes/*")
SETS = (
    *sets.LOCAL.values(),
    go_tools.NODE_TOOLS,
    go_tools.IMAGE_TOOLS,
    go_tools.TOOLKIT_TOOLS,
    go_tools.LANGUAGE_TOOLS,
)


class Module(NamedTuple):
    """`sum` is as go.sum has it; empty for one that was replaced by a folder."""

    path: str
    version: str
    sum: str


class Program(NamedTuple):
    """`go` is the version that built it, without `go`; `package` is what was built."""

    name: str
    file: Path
    go: str
    package: str
    modules: tuple[Module, ...]
    settings: tuple[tuple[str, str], ...]


def built(root: Path, go: str) -> list[Program]:
    """By name, each file once."""
    found = [
        file
        for folder in FOLDERS
        for place in sorted((root / ".landbridge").glob(folder))
        for file in sorted(place.iterdir())
        if file.is_file()
    ]
    names = {file.resolve(): _name(file) for file in reversed(found)}
    told = subprocess.run([go, "version", "-m", *names], capture_output=True, text=True, check=False).stdout
    return sorted(read(told, names), key=lambda program: (program.name, program.file.as_posix()))


def _name(file: Path) -> str:
    """An older Kubernetes lies in a folder by its version."""
    return f"{file.name}-{file.parent.name}" if file.parent.parent.name == "kubernetes" else file.name


def lacking(programs: list[Program]) -> list[str]:
    """Names of those that could be built and are not here."""
    here = {program.name for program in programs}
    older = [f"{name}-{version}" for version in go_tools.OLDER for name in go_tools.SERVERS]
    return sorted({tool.name for tools in SETS for tool in tools}.union(older) - here)


def read(told: str, names: dict[Path, str]) -> Iterator[Program]:
    """What `go version -m` says; scripts beside the programs are none, and it says so elsewhere."""
    for text in re.split(r"^(?=\S)", told, flags=re.MULTILINE):
        head, _, rest = text.partition("\n")
        file, _, version = head.rpartition(": go")
        if not file:
            continue
        lines = [line.split("\t") for line in rest.splitlines()]
        package = next((line[2] for line in lines if line[1:2] == ["path"]), "")
        settings = tuple(tuple(line[2].split("=", 1)) for line in lines if line[1:2] == ["build"] and "=" in line[2])
        path = Path(file)
        modules = tuple(sorted(_modules(lines)))
        yield Program(names[path], path, version.split()[0], package, modules, settings)


def _modules(lines: list[list[str]]) -> Iterator[Module]:
    """A line `=>` says what stands in the place of the one before it."""
    for line, after in zip(lines, [*lines[1:], [""]], strict=True):
        if line[1:2] == ["dep"]:
            path, version, *rest = after[2:] if after[1:2] == ["=>"] else line[2:]
            yield Module(path, version, rest[0] if rest else "")

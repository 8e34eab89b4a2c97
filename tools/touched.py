"""Which tests a change touches: those from which a changed file is reached by imports, by names, or as data beside.

An edge leads from a file to what it needs: what it imports, in functions and in programs held as text, too; what its
texts name (modules that are run, folders, files); the packages and conftests around it. A file that is no module of
ours (a golden file, a fixture, a script for machines) belongs to the modules nearest to it that name it or a folder on
the way to it, and to all of them if none does.
"""

import itertools
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from source_facts import TESTS, Facts, Import, Store

TOOLS = "tools"
DOCUMENTS = "docs/"
# What stands for a cloud, machines or the engine's programs: a test that comes to one of these needs them.
CLOUDS = (
    "tests/support/cloud.py::Cloud",
    "tests/support/cloud.py::COMMAND",
    "tests/local/machines/host.py::Host",
    "tests/local/machines/inside.py::Inside",
)
PROGRAMS = (".landbridge/bin", ".landbridge/image")
MARK = "pytest.mark.cloud"
# Whole clouds, networks of daemons, bakes.
LONG = ("tests/e2e/", "tests/lab/", "tests/images/test_bake.py", "tests/images/test_services.py")


class Changes(ValueError):
    """Git can't tell what has changed; says why."""


def changed(root: Path, base: str) -> set[str]:
    """Files that differ from `base`, new ones and those that are gone among them."""
    differing = _git(root, "diff", "--merge-base", "--name-only", "--no-renames", "-z", base, "--")
    return {*differing, *_git(root, "ls-files", "--others", "--exclude-standard", "-z")}


def listed(root: Path) -> set[str]:
    """All files that git does not ignore."""
    return {*_git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")}


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Changes(done.stderr.strip())
    return [name for name in done.stdout.split("\0") if name]


class Graph:
    """Of `files`, told from `root`.

    A node is a file, or a symbol of a test's module (FILE::SYMBOL, FILE:: its body, FILE::* all of it). A package's
    `__init__.py*` is what it imports by computed names: who imports from itself, not from modules in it, needs these.
    """

    def __init__(self, root: Path, files: Collection[str], store: Store) -> None:
        self.store = store
        self.python = {file for file in files if file.endswith(".py")}
        settings = tomllib.loads((root / "pyproject.toml").read_text()) if "pyproject.toml" in files else {}
        scripts = settings.get("project", {}).get("scripts", {})
        self.commands = {name: target.partition(":")[0] for name, target in scripts.items()}
        path = settings.get("tool", {}).get("mypy", {}).get("mypy_path", "").split(":")
        # Modules that are imported by their bare names. All but set-up's are data, too, for what lies above them.
        self.bare: dict[str, set[str]] = defaultdict(set)
        self.folders: dict[str, set[str]] = defaultdict(set)
        for file in self.python:
            folder, name = split(file)
            if folder in path:
                self.bare[name.removesuffix(".py")].add(file)
            # What lies beside all packages is nobody's folder.
            if (folder and folder not in path) or folder == TOOLS:
                self.folders[folder].add(file)
        self.tests: set[str] = set()
        self.starting = set(CLOUDS)
        self.naming: dict[str, set[str]] = defaultdict(set)
        self.users: dict[str, set[str]] = defaultdict(set)
        for file in self.python:
            for node, needed in self._edges(file):
                self.users[needed].add(node)
        # What nobody imports is read, if anything: it lies on machines in folders of its own.
        unread = {file for file in self.python if not self.users[file] and not is_tests(file)}
        self.folders = {folder: left for folder, found in self.folders.items() if (left := found - unread)}
        modules = {file for found in self.folders.values() for file in found}
        for file in set(files) - modules:
            self.users[file] |= self._readers(file)

    def reached(self, from_: Iterable[str]) -> dict[str, int]:
        """All nodes that need these → over how many others."""
        depth = dict.fromkeys(from_, 0)
        border = list(depth)
        for steps in itertools.count(1):
            border = [user for user in {user for node in border for user in self.users[node]} if user not in depth]
            if not border:
                return depth
            depth |= dict.fromkeys(border, steps)
        raise AssertionError

    def touched(self, changes: Iterable[str]) -> dict[str, int]:
        """Tests that a change is reached from → over how many nodes."""
        reached = self.reached(changes)
        return {node: steps for node, steps in reached.items() if node in self.tests}

    def with_clouds(self) -> set[str]:
        """Tests that start a cloud, machines or programs of the engine or the control plane."""
        long = {test for test in self.tests if test.startswith(LONG)}
        return long | (self.tests & self.reached(self.starting).keys())

    def module(self, name: str) -> str | None:
        """The file of a module, by its dotted name."""
        place = name.replace(".", "/")
        return next((file for file in (f"{place}.py", f"{place}/__init__.py") if file in self.python), None)

    def imported(self, file: str, one: Import, attribute: str = "*") -> Iterator[str]:
        """The nodes that an import leads to, with the packages on the way; of a module `attribute` is what is used."""
        above = file.split("/")[: -one.level] if one.level else []
        parts = [*above, *one.module.split(".")] if one.module else above
        inner = self.module(".".join([*parts, one.name])) if one.name else None
        if last := inner or self.module(".".join(parts)):
            yield from self._of(last, attribute if inner or not one.name else one.name)
        for end in range(1, len(parts) + 1):
            if package := self.module(".".join(parts[:end])):
                yield f"{package}::" if is_tests(package) else package
        if not one.level and one.module not in sys.stdlib_module_names:
            yield from self.bare.get(one.module, ())

    def _of(self, module: str, name: str) -> Iterator[str]:
        """What somebody needs who uses a name of a module."""
        if not is_tests(module):
            yield f"{module}*" if split(module)[1] == "__init__.py" else module
            return
        facts = self.store.of(module)
        has = name in facts.symbols or any(one.alias == name for one in facts.imports)
        yield f"{module}::{name if has else '*'}"

    def _edges(self, file: str) -> Iterator[tuple[str, str]]:
        facts, (folder, name) = self.store.of(file), split(file)
        tests = is_tests(file)
        packages = [found for above in parents(file) if (found := f"{above}/__init__.py") in self.python]
        body = f"{file}::" if tests else file
        if name == "__init__.py" and not tests:
            yield f"{file}*", file
        for symbol, one in facts.symbols.items():
            node = f"{file}::{symbol}" if tests else file
            for word in one.words:
                self.naming[word].add(node)
                if "." in word and (module := self.module(word)):
                    yield node, f"{module}::*" if is_tests(module) else module
            # A command that starts itself anew is no more than what called it.
            for run in set(one.runs) - {file.partition("/")[0]}:
                if run in self.commands:
                    yield from ((node, needed) for needed in self.imported("", Import(0, self.commands[run], "", "")))
                if (main := f"{run}/__main__.py") in self.python:
                    yield node, main
            yield from ((node, needed) for imported in one.held for needed in self.imported(file, imported))
            if one.dynamic and name == "__init__.py":
                yield from ((f"{file}*", beside) for beside in self.folders[folder])
        if not tests:
            yield from ((file, needed) for one in facts.imports for needed in self.imported(file, one))
            yield from ((file, package) for package in packages)
            return
        yield body, file
        yield from ((body, f"{package}::") for package in packages if package != file)
        yield from self._of_symbols(file, facts)

    def _of_symbols(self, file: str, facts: Facts) -> Iterator[tuple[str, str]]:
        """Within the module of a test: by names."""
        conftests = [found for above in parents(file) if (found := f"{above}/conftest.py") in self.python]
        unasked = [needed for one in (file, *conftests) for needed in self._unasked(one)]
        aliases = defaultdict(list)
        for one in facts.imports:
            aliases[one.alias].append(one)
            # Re-exported; or imported for what it does to others, as no symbol uses it.
            yield from ((f"{file}::{one.alias}", needed) for needed in self.imported(file, one))
        used = {use.partition(".")[0] for symbol in facts.symbols.values() for use in (*symbol.uses, *symbol.arguments)}
        for alias in aliases.keys() - used:
            yield f"{file}::", f"{file}::{alias}"
        for name, symbol in facts.symbols.items():
            node = f"{file}::{name}"
            yield f"{file}::*", node
            if name:
                yield node, f"{file}::"
            if MARK in symbol.uses or any(word.startswith(PROGRAMS) for word in symbol.words):
                self.starting.add(node)
            yield from ((node, needed) for use in symbol.uses for needed in self._used(file, use, aliases))
            for fixture in symbol.arguments:
                # One that asks for its own name means the one that it stands in for.
                places = [place for place in (file, *conftests) if self._has(place, fixture)]
                others = [f"{place}::{fixture}" for place in places if (place, fixture) != (file, name)]
                yield from ((node, other) for other in others[:1])
            if name.lower().startswith("test") and is_test(file):
                self.tests.add(node)
                yield from ((node, needed) for needed in unasked)

    def _used(self, file: str, use: str, aliases: Mapping[str, list[Import]]) -> Iterator[str]:
        """What a dotted name leads to."""
        root, _, rest = use.partition(".")
        if root in self.store.of(file).symbols:
            yield f"{file}::{root}"
        for one in aliases.get(root, ()):
            yield from self.imported(file, one, rest.partition(".")[0] or "*")

    def _has(self, file: str, name: str) -> bool:
        facts = self.store.of(file)
        return name in facts.symbols or any(one.alias == name for one in facts.imports)

    def _unasked(self, file: str) -> Iterator[str]:
        """What tests get of their module or a conftest without asking for it."""
        yield f"{file}::"
        for name, symbol in self.store.of(file).symbols.items():
            if symbol.autouse or name.startswith("pytest"):  # its hooks, and marks of all tests
                yield f"{file}::{name}"

    def _readers(self, file: str) -> set[str]:
        """Of what is no module: those nearest to it that name it or its folders, and whoever names its place."""
        folders, name = file.split("/")[:-1], split(file)[1]
        beside = next((above for above in parents(file) if self.folders.get(above)), "")
        way = [*folders[beside.count("/") + 1 if beside else 0 :], name]
        near = self.folders.get(beside, set())
        naming = {node for word in way for node in self.naming[word] if node.partition("::")[0] in near}
        naming |= set() if naming else {f"{one}::" if is_tests(one) else one for one in near}
        naming |= self.naming[name] & self.naming[folders[-1]] if folders else self.naming[name]
        least = 2 if beside else 1
        for end in range(least, len(folders) + 1):
            naming |= self.naming["/".join(folders[:end])]
        naming |= self.naming[file]
        # Others than tests only tell people of a document.
        return {node for node in naming if is_tests(node)} if file.startswith(DOCUMENTS) else naming


def is_tests(file: str) -> bool:
    return file.startswith(TESTS)


def is_test(file: str) -> bool:
    return is_tests(file) and split(file)[1].startswith("test_")


def split(file: str) -> tuple[str, str]:
    folder, _, name = file.rpartition("/")
    return folder, name


def parents(file: str) -> Iterator[str]:
    """The folders that it lies in, the nearest first."""
    while file := file.rpartition("/")[0]:
        yield file

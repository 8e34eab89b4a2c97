"""No module comes back to itself by imports, those in functions and those for types alone included.

Where one would, what both need lies in the wrong file: it goes into one of its own, below both.
"""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.test_house import ARROWS, ROOT, tracked


def named(file: Path) -> str:
    """Scripts of machines lie in one folder there, and go by their bare names."""
    if "on_machine" in file.parts:
        return file.stem
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All below one. Expressions, which are most of a tree, have none."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for one in getattr(node, field, ()):
            yield one
            yield from statements(one)


def imported(file: Path, root: Path) -> Iterator[str]:
    """Names of modules, or of what is in one."""
    package = named(file) if file.name == "__init__.py" else named(file).rpartition(".")[0]
    for node in statements(ast.parse((root / file).read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            module = ".".join((*above, *filter(None, (node.module,))))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def circle(root: Path, files: list[Path]) -> list[str]:
    """One that there is, each module importing the next; empty where there is none."""
    modules = {named(file): file for file in files}

    def needs(name: str, file: Path) -> set[str]:
        found = ((one, one.rpartition(".")[0]) for one in imported(file, root))
        return {next((one for one in both if one in modules), name) for both in found} - {name}

    graph: Mapping[str, set[str]] = {name: needs(name, file) for name, file in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_no_imports_lead_in_a_circle() -> None:
    files = [file.relative_to(ROOT) for file in tracked(*(f"{package}/*.py" for package in ARROWS))]
    assert circle(ROOT, files) == []


def test_circles_are_found(tmp_path: Path) -> None:
    texts = {
        "a/__init__.py": "from . import one\n",
        "a/one.py": "from a.two import Thing\nimport os\n",
        "a/two.py": "def late():\n    from .b.three import other\n",
        "a/b/__init__.py": "",
        "a/b/three.py": "if TYPE_CHECKING:\n    from .. import one\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    files = [Path(name) for name in texts]
    found = circle(tmp_path, files)
    assert found[0] == found[-1]
    assert [found[found.index("a.one") :][:2], len(found), set(found)] == [
        ["a.one", "a.two"],
        4,
        {"a.one", "a.two", "a.b.three"},
    ]
    (tmp_path / "a/b/three.py").write_text("")
    assert circle(tmp_path, files) == []

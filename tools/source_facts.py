"""What a Python file imports, names and defines, read from its text; kept, as parsing all of them takes seconds."""

import ast
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

TESTS = "tests/"
# Raise it when what is read from a file changes.
FORM = 2
# Names, and whole paths.
WORD = re.compile(r"[\w.\-]+(?:/[\w.\-]+)*")
# In programs that others hold as text.
IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import ([\w, ]+)|import ([\w.]+))", re.MULTILINE)
RUN = re.compile(r"""(?:-m |run_(?:module|path)\([^\n]*?["']/?)(\w+)""")
Function = ast.FunctionDef | ast.AsyncFunctionDef
BODY = ""


class Import(NamedTuple):
    """`from ..module import name as alias`, one name each; `name` is empty for `import module`."""

    level: int
    module: str
    name: str
    alias: str


class Symbol(NamedTuple):
    """A function, class or value of a module: dotted names in it, words and paths of its texts, imports in them.

    `arguments` are those of tests and fixtures; `runs` are programs beside the interpreter and
    packages that it starts; `dynamic` says that it imports by names that it computes.
    """

    uses: list[str]
    words: list[str]
    held: list[Import]
    arguments: list[str]
    runs: list[str]
    dynamic: bool
    autouse: bool


class Facts(NamedTuple):
    """Of a module that is no test's, all is one symbol. Else the body, which has no name, is what no other one is."""

    imports: list[Import]
    symbols: dict[str, Symbol]


def facts(text: str, *, apart: bool) -> Facts:
    """`apart` has every function, class and value for itself. Raises SyntaxError."""
    tree = ast.parse(text)
    imports = list(_imports(ast.walk(tree)))
    if not apart:
        return Facts(imports, {BODY: _symbol([tree])})
    parts: dict[str, list[ast.AST]] = {BODY: []}
    for name, node in _definitions(tree.body):
        parts.setdefault(name, []).append(node)
    return Facts(imports, {name: _symbol(nodes) for name, nodes in parts.items()})


def _definitions(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            yield from ((name, node) for name in names or [BODY])
        elif isinstance(node, ast.If | ast.With | ast.For | ast.Try):
            yield from _definitions(node.body)
        else:
            yield BODY, node


def _symbol(roots: list[ast.AST]) -> Symbol:
    nodes = [node for root in roots for node in ast.walk(root)]
    functions = [each for each in nodes if isinstance(each, Function)]
    fixtures = {each: [mark for mark in each.decorator_list if _named(mark) == "fixture"] for each in functions}
    takes_fixtures = [each for each in functions if fixtures[each] or each.name.startswith("test")]
    arguments = {one.arg for each in takes_fixtures for one in (*each.args.args, *each.args.kwonlyargs)}
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    for call in calls:
        if _named(call.func) in ("usefixtures", "getfixturevalue"):
            arguments.update(_constants(call.args))
    made = [mark for found in fixtures.values() for mark in found if isinstance(mark, ast.Call)]
    # Docstrings only speak of things.
    spoken = {node.value for node in nodes if isinstance(node, ast.Expr)}
    constants = {node.value for node in nodes if isinstance(node, ast.Constant) and node not in spoken}
    texts = {text for text in constants if isinstance(text, str)}
    words = {word for text in texts for path in WORD.findall(text) for word in (path, *path.split("/"))}
    return Symbol(
        uses=sorted({name for each in nodes if (name := _dotted(each))}),
        words=sorted(words),
        held=[found for text in sorted(texts) for found in _held(text)],
        arguments=sorted(arguments),
        runs=sorted({*_run(nodes), *(name for text in texts for name in RUN.findall(text))}),
        dynamic=any(_named(call.func) == "import_module" and not _constants(call.args[:1]) for call in calls),
        autouse=any(keyword.arg == "autouse" for mark in made for keyword in mark.keywords),
    )


def _imports(nodes: Iterable[ast.AST]) -> Iterator[Import]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                yield Import(0, one.name, "", one.asname or one.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                yield Import(node.level, node.module or "", one.name, one.asname or one.name)


def _run(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and _named(node.func) in ("with_name", "run_module"):
            yield from _constants(node.args)
        elif isinstance(node, ast.List | ast.Tuple):
            values = [part.value if isinstance(part, ast.Constant) else None for part in node.elts]
            yield from (str(name) for option, name in itertools.pairwise(values) if option == "-m" and name)


def _held(text: str) -> Iterator[Import]:
    if "import " in text:
        for module, names, whole in IMPORT.findall(text):
            yield Import(0, module or whole, "", "")
            yield from (Import(0, module, name.split()[0], "") for name in names.split(",") if module and name.strip())


def _dotted(node: ast.AST) -> str:
    """`a.b.c`, or nothing where it does not begin with a name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)):
        return f"{before}.{node.attr}"
    return ""


def _named(node: ast.AST) -> str:
    """The last name of what is called."""
    if isinstance(node, ast.Call):
        return _named(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _constants(nodes: Iterable[ast.AST]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


class Store:
    """Facts of files below `root`; `path` keeps them from one run to the next."""

    def __init__(self, root: Path, path: Path) -> None:
        self.root, self.path = root, path
        self.cached: dict[str, tuple[list[int], Facts]] = {}
        self.changed = False
        saved = json.loads(path.read_text()) if path.exists() else {}
        if saved.get("form") == FORM:
            self.cached = {name: (when, _revived(*record)) for name, (when, record) in saved["files"].items()}

    def of(self, file: str) -> Facts:
        """A file that can't be parsed, or is gone, has none: the linter tells of it."""
        try:
            stat = (self.root / file).stat()
            when = [stat.st_mtime_ns, stat.st_size]
            if file not in self.cached or self.cached[file][0] != when:
                text = (self.root / file).read_text()
                self.cached[file], self.changed = (when, facts(text, apart=file.startswith(TESTS))), True
            return self.cached[file][1]
        except (OSError, SyntaxError, UnicodeDecodeError):
            return Facts([], {BODY: _symbol([])})

    def save(self) -> None:
        if not self.changed:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(f".{os.getpid()}")
        files = {name: entry for name, entry in self.cached.items() if (self.root / name).exists()}
        new.write_text(json.dumps({"form": FORM, "files": files}))
        new.replace(self.path)


def _revived(imports: list[list[Any]], symbols: dict[str, list[Any]]) -> Facts:
    made = {name: Symbol(*symbol) for name, symbol in symbols.items()}
    found = {name: one._replace(held=[Import(*each) for each in one.held]) for name, one in made.items()}
    return Facts([Import(*one) for one in imports], found)

"""YAML with the line of every entry, because an error without a line is half an error."""

import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from .errors import FleetError, Problem
from .yaml_subset import unsupported_nodes

EntryPath = tuple[Hashable, ...]
# Up to a comment, or to what ends a value in brackets.
PLAIN = re.compile(r"[^\s,\[\]{}]+")


class Lines:
    """Line numbers (from 1) by path, such as ("regions", "us-west-2", "zones", 0)."""

    def __init__(self, root: CommentedMap, text: str = "") -> None:
        self._root, self._text = root, text.splitlines()

    def of(self, path: EntryPath) -> int:
        """The line of the entry, or of the nearest parent that is in the file."""
        node: Any = self._root
        line = 1
        for key in path:
            if isinstance(node, CommentedMap) and key in node:
                line = _key_line(node, key) or line
            elif isinstance(node, CommentedSeq) and isinstance(key, int) and key < len(node):
                line = node.lc.item(key)[0] + 1
            else:
                break
            node = node[key]
        return int(line)

    def written(self, path: EntryPath) -> str | None:
        """A plain value as it stands in the file, where 012 is no 12 yet; None where the path leads to none."""
        *parents, last = path
        node: Any = self._root
        try:
            for key in parents:
                node = node[key]
            line, column = node.lc.value(last) if isinstance(node, CommentedMap) else node.lc.item(last)
            return PLAIN.match(self._text[line][column:])[0]  # type: ignore[index]
        except (KeyError, IndexError, TypeError, AttributeError):  # it came through a merge, or is no value
            return None


def _key_line(node: CommentedMap, key: Hashable) -> int | None:
    try:
        return int(node.lc.key(key)[0]) + 1
    except (KeyError, TypeError):  # it came through a merge (<<: *anchor), and perhaps all there did
        return None


def read(path: Path, name: str | None = None, example: str = "the example fleet.yaml") -> tuple[CommentedMap, Lines]:
    """One mapping from one YAML file. Raises FleetError for anything else.

    `name` is what errors call the file, `example` what an empty one may start from.
    """
    name = name or path.name
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FleetError([Problem(name, None, "there is no such file", f"Create it or name another: {path}")]) from None
    except UnicodeDecodeError:
        raise FleetError([Problem(name, None, "the file is not UTF-8 text", "Save it as UTF-8")]) from None
    except OSError as error:
        raise FleetError(
            [Problem(name, None, f"the file can't be read: {error.strerror}", "Check its rights")]
        ) from None
    try:
        data = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        raise FleetError([_syntax(name, error)]) from None
    except YAMLError as error:
        what = str(error).splitlines()[0]
        raise FleetError([Problem(name, None, f"this is not YAML: {what}", "Correct it")]) from None
    except RecursionError:
        raise FleetError([Problem(name, None, "it nests too deeply", "Shorten it")]) from None
    except ValueError as error:
        # YAML makes days of what looks like one, and numbers of thousands of digits.
        day = "day" in str(error) or "month" in str(error)
        what = f"it has a day that is none: {error}" if day else "a number has thousands of digits"
        raise FleetError([Problem(name, None, what, "Correct it" if day else "Shorten it")]) from None
    if not isinstance(data, CommentedMap):
        what = "the file is empty" if data is None else f"the file holds a {_kind(data)}, not a mapping"
        raise FleetError([Problem(name, 1, what, f"Start from {example}")])
    lines = Lines(data, text)
    if problems := [Problem(name, lines.of(place), what, remedy) for place, what, remedy in unsupported_nodes(data)]:
        raise FleetError(problems)
    return data, lines


def _kind(data: object) -> str:
    return "list" if isinstance(data, CommentedSeq) else "single value"


def _syntax(name: str, error: MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    what = (error.problem or error.context or "not YAML").strip().splitlines()[0]
    remedies = {
        "found duplicate key": "Each name may stand once: rename or remove one of them",
        "expected a single document": "One fleet a file: remove what follows the line ---",
        "found character '\\t'": "YAML indents with spaces: replace the tab",
        "found undefined alias": "Define the anchor (&name) before its use (*name)",
    }
    remedy = next((text for start, text in remedies.items() if start in what or start in str(error)), None)
    if "duplicate key" in what:
        what = what.split(" with value")[0]
    return Problem(name, line, f"this is not valid YAML: {what}", remedy or "Check indentation, colons and quotes here")


def plain(node: Any) -> Any:
    """Dicts, lists and scalars without ruamel's own types, merges resolved."""
    if isinstance(node, Mapping):
        return {plain(key): plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [plain(item) for item in node]
    for base in (bool, int, float, str):
        if isinstance(node, base):
            return base(node)
    return node

"""What YAML allows and no file of ours may hold: odd keys, tags, sets, and aliases that blow up or go in circles."""

import datetime
import re
from collections.abc import Hashable, Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedOrderedMap, CommentedSeq

MAX_NODES = 200_000  # the largest fleet tried, 1,000 hosts, has 8,000
MAX_DEPTH = 32
NAME = r"[a-z]([a-z0-9-]{0,30}[a-z0-9])?"
GOOD_NAME = "Names are lower-case letters, digits and hyphens, at most 32, starting with a letter"
SCALARS = (str, int, float, bool, datetime.date, type(None))
Odd = tuple[tuple[Hashable, ...], str, str]


def unsupported_nodes(root: CommentedMap) -> list[Odd]:
    """Path, what is wrong and what would be right, of each such part; of aliases that blow up the first alone."""
    found: list[Odd] = []
    for count, (path, node) in enumerate(_walk((), root)):
        if len(path) > MAX_DEPTH:
            return [(path, "it nests too deeply", "Perhaps an alias (*name) stands inside what it names")]
        if count > MAX_NODES:
            return [(path, f"the file has more than {MAX_NODES:,} parts", "Perhaps aliases (*name) multiply it")]
        found += ((path, what, remedy) for what, remedy in _odd(node))
        if isinstance(node, CommentedMap):
            found += (((*path, key), *_odd_key(key)) for key in node if not isinstance(key, str))
    return found


def _walk(path: tuple[Hashable, ...], node: Any) -> Iterator[tuple[tuple[Hashable, ...], Any]]:
    yield path, node
    if len(path) > MAX_DEPTH:
        return
    if isinstance(node, CommentedMap):
        for key, value in node.items():
            yield from _walk((*path, key), value)
    elif isinstance(node, CommentedSeq):
        for n, value in enumerate(node):
            yield from _walk((*path, n), value)


def _odd(node: Any) -> Iterator[tuple[str, str]]:
    tag = getattr(getattr(node, "tag", None), "value", None)
    if tag and not isinstance(node, CommentedOrderedMap):
        yield f"the tag {tag} means nothing here", "Remove it"
    elif isinstance(node, CommentedOrderedMap) or not isinstance(node, (CommentedMap, CommentedSeq, *SCALARS)):
        yield "this is neither text, number, list nor mapping", "Write it as one of those"


def _odd_key(key: Hashable) -> tuple[str, str]:
    if isinstance(key, SCALARS) and key is not None:
        word = str(key).lower() if isinstance(key, bool) else str(key)
        named = re.fullmatch(NAME, word)
        return f"the key {word} is not text", f'Put it in quotes: "{word}"' if named else GOOD_NAME
    return "a key here is empty, a list or a mapping", "Give the entry a name"

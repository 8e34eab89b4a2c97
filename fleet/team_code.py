"""The code of a team's runs: where it lies in a fleet bucket, by its digests, and the form of its trees.

A tree lists the files of one folder and where the bytes of each lie: in packs, which hold new files one after another.
What is called by its digest never changes, so launches share packs and nobody has to lock anything. The digest of a
tree, as it is written here, is the code's.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .team_storage import FOLDER as TEAMS

FORMAT = 1
MIB = 2**20
# A pack passes through memory whole, eight at a time. Longer files lie in several.
PACK_BYTES = 64 * MIB
DIFF_BYTES = MIB
MODES = (0o644, 0o755)
DIGEST = re.compile(r"[0-9a-f]{64}")
EMPTY = hashlib.sha256().hexdigest()
# In the folder that a pod has the code in: whose it is, and whether all of it is there. No tree may have one.
MARKER = ".landbridge-code"


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes in a pack."""

    pack: str
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class File:
    """Its parts are its bytes, one after another. An empty file has none."""

    path: str
    mode: int
    size_bytes: int
    sha256: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link. `target` is relative to the link's folder."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class Tree:
    """`packs` are those that it uses, with their sizes in bytes."""

    files: tuple[File, ...]
    links: tuple[Link, ...]
    packs: Mapping[str, int]


def folder(team: str) -> str:
    """Of a team's code, in every fleet bucket."""
    return f"{TEAMS}/{team}/code/"


def pack_key(sha256: str) -> str:
    """Below the folder, as all keys here."""
    return f"packs/{sha256}"


def tree_key(sha256: str) -> str:
    return f"trees/{sha256}.json"


def diff_key(sha256: str) -> str:
    """What a folder had beside its commit, for people."""
    return f"diffs/{sha256}"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write(tree: Tree) -> bytes:
    """The same bytes for the same tree. Raises ValueError for one that `parse` would refuse."""
    packs = sorted(tree.packs)
    number = {pack: n for n, pack in enumerate(packs)}
    files = [
        {
            "path": one.path,
            "mode": f"{one.mode:04o}",
            "size": one.size_bytes,
            "sha256": one.sha256,
            "parts": [[number[part.pack], part.offset_bytes, part.size_bytes] for part in one.parts],
        }
        for one in sorted(tree.files, key=lambda one: one.path)
    ]
    links = [
        {"path": one.path, "mode": "link", "target": one.target} for one in sorted(tree.links, key=lambda one: one.path)
    ]
    whole = {"format": FORMAT, "packs": [[pack, tree.packs[pack]] for pack in packs], "files": files + links}
    data = json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()
    parse(data)
    return data


def parse(data: bytes) -> Tree:
    """Raises ValueError, whose text says which entry is wrong and why."""
    try:
        whole = json.loads(data)
    except ValueError as error:
        raise ValueError(f"a tree is JSON: {error}") from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        found = whole.get("format") if isinstance(whole, dict) else None
        raise ValueError(f"a tree has the format {FORMAT}, this one {found}: it was written by another version")
    _keys(whole, {"format", "packs", "files"}, "a tree")
    packs = list(_packs(_list(whole["packs"], "packs")))
    files: list[File] = []
    links: list[Link] = []
    for entry in _list(whole["files"], "files"):
        if isinstance(entry, dict) and entry.get("mode") == "link":
            links.append(_link(entry))
        else:
            files.append(_file(entry, packs))
    _together(files, links)
    used = {part.pack for one in files for part in one.parts}
    if idle := sorted({pack for pack, _ in packs} - used):
        raise ValueError(f"pack {idle[0]}: no file lies in it")
    if len({pack for pack, _ in packs}) < len(packs):
        raise ValueError("a pack stands twice")
    return Tree(tuple(files), tuple(links), dict(packs))


def path_problem(path: str) -> str:
    """Why a tree can't have this path; empty if it can."""
    if not path or "\0" in path:
        return "is no path"
    if path.startswith("/"):
        return "is absolute"
    if any(word in ("", ".", "..") for word in path.split("/")):
        return "has an empty part, . or .. in it"
    if path.split("/")[0] == MARKER:
        return "is a name of our own"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    return ""


def link_problem(path: str, target: str) -> str:
    """Why a tree can't have this link; empty if it can.

    `..` may only lead: behind a name it would start from wherever that name, as a link, leads to.
    """
    if not target or "\0" in target:
        return "leads nowhere"
    if target.startswith("/"):
        return "is absolute"
    words = [word for word in target.split("/") if word not in ("", ".")]
    up = next((n for n, word in enumerate(words) if word != ".."), len(words))
    if up > path.count("/"):
        return "leads out of the folder"
    if ".." in words[up:]:
        return "has .. behind a name"
    try:
        target.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    return ""


def _packs(listed: list[Any]) -> Iterator[tuple[str, int]]:
    for one in listed:
        if not isinstance(one, list) or len(one) != 2:
            raise ValueError(f"packs: {one} is not a digest with a size")
        if not _whole_number(one[1]) or not 0 < one[1] <= PACK_BYTES:
            raise ValueError(f"packs: {one[1]} is no size: packs have 1 to {PACK_BYTES} bytes")
        yield _digest(one[0], "packs"), one[1]


def _file(entry: Any, packs: list[tuple[str, int]]) -> File:
    path = _path(entry)
    _keys(entry, {"path", "mode", "size", "sha256", "parts"}, path)
    if entry["mode"] not in [f"{mode:04o}" for mode in MODES]:
        raise ValueError(f"{path}: the mode is 0644, 0755 or link, not {entry['mode']}")
    size, sha256 = entry["size"], _digest(entry["sha256"], path)
    parts = tuple(_part(part, packs, path) for part in _list(entry["parts"], path))
    if not _whole_number(size) or size != sum(part.size_bytes for part in parts):
        raise ValueError(f"{path}: its parts have not the {size} bytes that it has")
    if not parts and sha256 != EMPTY:
        raise ValueError(f"{path}: it is empty, and its digest is not that of nothing")
    return File(path, int(entry["mode"], 8), size, sha256, parts)


def _part(part: Any, packs: list[tuple[str, int]], path: str) -> Part:
    if not isinstance(part, list) or len(part) != 3 or not all(_whole_number(one) for one in part):
        raise ValueError(f"{path}: the part {part} is not a pack's number, an offset and a size")
    number, offset, size = part
    if number >= len(packs) or not size or offset + size > packs[number][1]:
        raise ValueError(f"{path}: the part {part} lies in no pack")
    return Part(packs[number][0], offset, size)


def _link(entry: dict[str, Any]) -> Link:
    path = _path(entry)
    _keys(entry, {"path", "mode", "target"}, path)
    target = entry["target"]
    if not isinstance(target, str):
        raise ValueError(f"{path}: its target is no text")
    if why := link_problem(path, target):
        raise ValueError(f"{path}: its target {target!r} {why}")
    return Link(path, target)


def _path(entry: Any) -> str:
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(path, str):
        raise ValueError(f"{entry} is no file: it has no path")
    if why := path_problem(path):
        raise ValueError(f"the path {path!r} {why}")
    return path


def _together(files: Collection[File], links: Collection[Link]) -> None:
    """No path twice, and nothing below what is no folder."""
    leaves: set[str] = set()
    for path in [*(one.path for one in files), *(one.path for one in links)]:
        if path in leaves:
            raise ValueError(f"{path}: it stands twice")
        leaves.add(path)
    for path in leaves:
        for n, letter in enumerate(path):
            if letter == "/" and path[:n] in leaves:
                raise ValueError(f"{path}: it lies below {path[:n]}, which is no folder")


def _keys(entry: dict[str, Any], wanted: set[str], what: str) -> None:
    if entry.keys() != wanted:
        raise ValueError(f"{what}: it has {', '.join(sorted(entry))}, and not {', '.join(sorted(wanted))}")


def _digest(value: Any, what: str) -> str:
    if not isinstance(value, str) or not DIGEST.fullmatch(value):
        raise ValueError(f"{what}: {value!r} is no SHA-256 in lower-case hexadecimal")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{what}: it is no list")
    return value


def _whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

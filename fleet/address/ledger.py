"""fleet.lock.yaml: who owns which prefix, committed beside the fleet file. The plan follows it, never the reverse."""

import datetime
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .. import committed_files
from ..errors import FleetError, Problem
from ..yaml import Lines, plain, read
from .blocks import Block, overlaps, parse
from .names import parent_of

VERSION = 1
HEADER = """\
# Who owns which prefix. Written by `landbridge plan --write`: commit it, and never edit it by hand.
# The digest makes two branches that both add something conflict here, so that no prefix is given twice.
"""


@dataclass(frozen=True)
class Entry:
    """A live prefix and the day it was given."""

    block: Block
    since: datetime.date


@dataclass(frozen=True)
class Resting:
    """A prefix that was given back; it is not reused before it has rested."""

    block: Block
    released: datetime.date


@dataclass(frozen=True)
class Ledger:
    """Live and resting prefixes by name."""

    supernet: Block
    live: MappingProxyType[str, Entry] = field(default_factory=lambda: MappingProxyType({}))
    resting: MappingProxyType[str, Resting] = field(default_factory=lambda: MappingProxyType({}))

    def digest(self) -> str:
        """SHA-256 over every line that matters, so that a merged or edited file shows."""
        return hashlib.sha256("\n".join(_lines(self)).encode()).hexdigest()[:16]


def ledger_path(fleet_path: Path) -> Path:
    """fleet.yaml → fleet.lock.yaml, beside it."""
    return fleet_path.with_name(f"{fleet_path.stem}.lock.yaml")


def _lines(ledger: Ledger) -> Iterator[str]:
    yield f"supernet: {ledger.supernet}"
    yield "prefixes:"
    for name, entry in sorted(ledger.live.items()):
        yield f"  {name}: {{cidr: {entry.block}, since: {entry.since}}}"
    yield "released:"
    for name, rest in sorted(ledger.resting.items()):
        yield f"  {name}: {{cidr: {rest.block}, released: {rest.released}}}"


def render(ledger: Ledger) -> str:
    return f"{HEADER}version: {VERSION}\ndigest: {ledger.digest()}\n" + "\n".join(_lines(ledger)) + "\n"


def write(path: Path, ledger: Ledger) -> None:
    committed_files.write(path, render(ledger))


def load(path: Path) -> Ledger:
    """Raises FleetError when the file is broken, edited by hand or merged; `FileNotFoundError` when there is none."""
    if not path.exists():
        raise FileNotFoundError(path)
    try:
        data, lines = read(path)
    except FleetError as error:  # conflict marks, most likely
        raise FleetError(Problem(p.file, p.line, p.what, _RESTORE) for p in error.problems) from None
    problems: list[Problem] = []
    live, resting = {}, {}
    try:
        raw = plain(data)
        supernet = parse(str(raw["supernet"]))
        if raw["version"] != VERSION:
            raise ValueError(f"version {raw['version']} of the ledger is not known here, only {VERSION}")
        for name, value in (raw["prefixes"] or {}).items():
            live[name] = Entry(_block(path, lines, ("prefixes", name), value, problems), value["since"])
        for name, value in (raw["released"] or {}).items():
            resting[name] = Resting(_block(path, lines, ("released", name), value, problems), value["released"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise FleetError([Problem(path.name, 1, f"the ledger is damaged: {what}", _RESTORE)]) from None
    if problems:
        raise FleetError(problems)
    ledger = Ledger(supernet, MappingProxyType(live), MappingProxyType(resting))
    problems = [*_clashes(path, lines, ledger)]
    if not problems and raw.get("digest") != ledger.digest():
        what = f"digest {raw.get('digest')} does not fit the entries: the file was edited by hand or merged"
        problems.append(Problem(path.name, lines.of(("digest",)), what, _RESTORE))
    if problems:
        raise FleetError(problems)
    return ledger


_RESTORE = "Take the ledger of the branch you merge into, as it is there, then run `landbridge plan --write`"


def _block(path: Path, lines: Lines, entry: tuple[str, str], value: Any, problems: list[Problem]) -> Block:
    try:
        return parse(str(value["cidr"]))
    except ValueError as error:
        problems.append(Problem(path.name, lines.of(entry), str(error), _RESTORE))
        return Block(0, 32)


def _clashes(path: Path, lines: Lines, ledger: Ledger) -> Iterator[Problem]:
    """Siblings must be disjoint, live or resting, and children inside their parents."""
    entries = {name: rest.block for name, rest in ledger.resting.items()}
    entries |= {name: entry.block for name, entry in ledger.live.items()}
    families: dict[str, list[tuple[str, Block]]] = {}
    for name, block in entries.items():
        section = "prefixes" if name in ledger.live else "released"
        try:
            parent = parent_of(name)
        except ValueError as error:
            yield Problem(path.name, lines.of((section, name)), str(error), _RESTORE)
            continue
        families.setdefault(parent, []).append((name, block))
        if parent in entries and not entries[parent].holds(block):
            what = f"{name} ({block}) does not lie in {parent} ({entries[parent]})"
            yield Problem(path.name, lines.of((section, name)), what, _RESTORE)
    for members in families.values():
        for first, second in overlaps(members):
            section = "prefixes" if second in ledger.live else "released"
            what = f"{first} and {second} hold the same addresses ({entries[second]})"
            yield Problem(path.name, lines.of((section, second)), what, _RESTORE)

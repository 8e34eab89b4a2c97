"""Weaknesses that are known in what is pinned, and the exceptions that tools/release/exceptions.toml makes of them."""

import datetime
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .errors import ReleaseError

FILE = Path(__file__).with_name("exceptions.toml")
KEYS = {"id", "in", "reason", "until"}


class Weakness(NamedTuple):
    """`names` are all by which it is known, its database's own first; `where` is a program, or a file of packages."""

    where: str
    part: str
    version: str
    names: tuple[str, ...]
    mended_in: str
    summary: str

    def __str__(self) -> str:
        also = f" ({', '.join(self.names[1:])})" if self.names[1:] else ""
        mended = f"mended in {self.mended_in}" if self.mended_in else "mended in no version"
        return f"{self.where}: {self.part} {self.version}: {self.names[0]}{also}: {self.summary}; {mended}"


class Excepted(NamedTuple):
    """`where` are the programs or files that it is for; none are all."""

    id: str
    where: tuple[str, ...]
    reason: str
    until: datetime.date


class Verdict(NamedTuple):
    """Lines for people: what stands, what is excepted, and what the file of exceptions has wrong by now."""

    standing: list[str]
    excepted: list[str]
    stale: list[str]


def exceptions(file: Path = FILE) -> list[Excepted]:
    """Raises ReleaseError."""
    try:
        data = tomllib.loads(file.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ReleaseError(f"{file.name}: {error}") from None
    if wrong := sorted(data.keys() - {"exception"}):
        raise ReleaseError(f"{file.name}: {wrong[0]} is none of its words. Write [[exception]]")
    return [_exception(file.name, number, one) for number, one in enumerate(data.get("exception", []), 1)]


def _exception(name: str, number: int, one: dict[str, Any]) -> Excepted:
    where = one.get("in", [])
    if (
        KEYS - {"in"} <= one.keys() <= KEYS
        and isinstance(where, list)
        and all(isinstance(one[key], str) and one[key].strip() for key in ("id", "reason"))
        and type(one["until"]) is datetime.date
    ):
        return Excepted(one["id"], tuple(map(str, where)), one["reason"], one["until"])
    raise ReleaseError(
        f"{name}: the exception number {number} should have an id, a reason, a day `until` (2026-12-31), and perhaps "
        "a list `in` of programs and files"
    )


def judge(found: Iterable[Weakness], made: list[Excepted], today: datetime.date) -> Verdict:
    """An exception counts through its day. One that is over, or for nothing any more, is told and has to go."""
    verdict, used = Verdict([], [], []), set[Excepted]()
    for weakness in sorted(set(found)):
        fitting = [one for one in made if one.id in weakness.names and (not one.where or weakness.where in one.where)]
        valid = [one for one in fitting if today <= one.until]
        used.update(fitting)
        if valid:
            verdict.excepted.append(f"{weakness}; excepted until {valid[0].until}: {valid[0].reason}")
        else:
            verdict.standing.append(str(weakness))
    verdict.stale.extend(_stale(made, used, today))
    return verdict


def _stale(made: Iterable[Excepted], used: set[Excepted], today: datetime.date) -> Iterator[str]:
    for one in made:
        if today > one.until:
            yield f"{FILE.name}: the exception of {one.id} was good until {one.until}. Mend it, or give a later day"
        elif one not in used:
            yield f"{FILE.name}: nothing has {one.id} any more. Take its exception out"

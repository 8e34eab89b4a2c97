"""A folder that gets the files: what of them is there already, and what becomes of that."""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from fleet import committed_files
from fleet.address import ledger as ledgers
from fleet.address.ledger import Ledger
from fleet.where import NAME
from landbridge.errors import UsageError

from . import project
from .making import Made

LEDGER = ledgers.ledger_path(Path(NAME)).name
State = Literal["new", "unchanged", "extended", "replaced"]


class Step(NamedTuple):
    """`former` is where a file goes that is replaced; a ledger goes on in the new one."""

    name: str
    text: str
    state: State
    former: str | None = None


def ledger(folder: Path) -> Ledger | None:
    """Prefixes that are given out already; None for a fleet that never had any. Raises FleetError."""
    try:
        return ledgers.load(folder / LEDGER)
    except FileNotFoundError:
        return None


def steps(folder: Path, made: Made) -> list[Step]:
    """What to write."""
    ignore = _read(folder / project.IGNORE)
    texts = {NAME: made.text, LEDGER: made.ledger, **project.files(folder, made.fleet.fleet)}
    found = [_step(folder, name, text) for name, text in texts.items()]
    return [*found, _extended(project.ignored(ignore or ""), ignore)]


def refuse(folder: Path) -> None:
    """Raises UsageError naming files that are there already. A .gitignore may be: it is only added to."""
    names = (NAME, LEDGER, *project.files(folder, ""))
    if there := [name for name in names if (folder / name).exists()]:
        raise UsageError(
            f"{folder.resolve()} has {', '.join(there)} already, and nothing was written. Name another folder "
            "(`landbridge init DIR`), or add --force, which keeps what it replaces beside the new files."
        )


def write(folder: Path, found: list[Step]) -> None:
    """Raises UsageError where the folder takes no files."""
    try:
        for step in found:
            path = folder / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            if step.former:
                path.rename(folder / step.former)
            if step.state != "unchanged":
                committed_files.write(path, step.text)
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder}: {error.strerror}. Name a folder that you may write to."
        ) from None


def as_json(found: list[Step]) -> Mapping[str, Mapping[str, str]]:
    return {
        "files": {step.name: step.state for step in found},
        "former": {step.name: step.former for step in found if step.former},
    }


def _step(folder: Path, name: str, text: str) -> Step:
    before = _read(folder / name)
    if before is None:
        return Step(name, text, "new")
    if before == text:
        return Step(name, text, "unchanged")
    return Step(name, text, "replaced", None if name == LEDGER else _former(folder, name))


def _extended(text: str, before: str | None) -> Step:
    state: State = "new" if before is None else "unchanged" if before == text else "extended"
    return Step(project.IGNORE, text, state)


def _former(folder: Path, name: str) -> str:
    """The first name that nothing has."""
    names = itertools.chain([f"{name}.former"], (f"{name}.former-{n}" for n in itertools.count(2)))
    return next(one for one in names if not (folder / one).exists())


def _read(path: Path) -> str | None:
    """Raises UsageError for what can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(f"{path}: {why}. Move it away, or name another folder.") from None

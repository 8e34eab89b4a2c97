"""A fleet of answers: the fleet's loader and address plan read what is to be written, before anything is."""

import datetime
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fleet.address import ledger as ledgers
from fleet.address.ledger import Ledger
from fleet.errors import FleetError, Problem
from fleet.loader import load
from fleet.model import Fleet
from fleet.rules import PRIVATE
from fleet.where import NAME
from fleet.world import drafted

from . import fleet_file, ranges
from .answers import Answers
from .entries import entries

# While a fleet has no range of its own, that of the whole space stands in its place.
ALL = str(PRIVATE[0])


@dataclass(frozen=True)
class Made:
    """The texts of fleet.yaml and of its ledger, and what they say."""

    text: str
    ledger: str
    fleet: Fleet


def problems(answers: Answers) -> list[Problem]:
    """What the fleet's loader has against answers; empty where nothing."""
    try:
        _loaded(answers)
    except FleetError as error:
        return error.problems
    return []


def made(answers: Answers, old: Ledger | None, today: datetime.date) -> Made:
    """What to write on top of a ledger that is there already (None: there is none). Raises FleetError."""
    first = _loaded(answers)
    supernet = str(old.supernet) if old else ranges.supernet(first)
    if supernet is None:
        what = f"no private range has room for {len(answers.regions)} regions beside {', '.join(answers.reserved)}"
        raise FleetError([Problem(NAME, None, what, "Name fewer regions, or smaller prefixes of other networks")])
    text = fleet_file.text(entries(answers, supernet), first)
    with tempfile.TemporaryDirectory(prefix="landbridge-") as folder:
        path = Path(folder) / NAME
        path.write_text(text, encoding="utf-8")
        if old:
            ledgers.write(ledgers.ledger_path(path), old)
        loaded, _, draft = drafted(path, today)
    return Made(text, ledgers.render(draft.ledger), loaded.fleet)


def _loaded(answers: Answers) -> Fleet:
    with tempfile.TemporaryDirectory(prefix="landbridge-") as folder:
        path = Path(folder) / NAME
        path.write_text(fleet_file.bare(entries(answers, ALL)), encoding="utf-8")
        return load(path)

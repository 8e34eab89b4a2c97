"""Where every program starts: the fleet file, its ledger, and the plan both give."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from . import reads, witness
from .address import ledger as ledgers
from .address.plan import AddressPlan, Draft, draft
from .errors import FleetError, Problem
from .loader import Loaded, load_with_lines
from .model import Fleet
from .remarks import Remark, remarks
from .where import fleet_path

WRITE = "Run `landbridge plan --write` and commit the ledger"


@dataclass(frozen=True)
class World:
    """A fleet whose plan stands in its ledger; `remarks` are for its people."""

    fleet: Fleet
    plan: AddressPlan
    path: Path
    remarks: tuple[Remark, ...] = ()


def drafted(path: Path, today: datetime.date) -> tuple[Loaded, ledgers.Ledger | None, Draft]:
    """The fleet, its old ledger (None: there is none yet) and the plan on top. Raises FleetError, also for refusals."""
    loaded = load_with_lines(path)
    try:
        old = ledgers.load(ledgers.ledger_path(path))
    except FileNotFoundError:
        old = None
    plan = draft(loaded.fleet, old, today)
    if plan.refusals:
        raise FleetError(Problem(loaded.file, loaded.lines.of(r.entry), r.what, r.remedy) for r in plan.refusals)
    return loaded, old, plan


def stale(path: Path, old: ledgers.Ledger | None, plan: Draft) -> list[Problem]:
    """Why the committed ledger does not fit the fleet; empty when it does."""
    name = ledgers.ledger_path(path).name
    if old is None:
        return [Problem(name, None, "the fleet has no ledger yet", WRITE)]
    changes = [
        f"{change.name} is {change.kind} and not in the ledger" for change in plan.changes if change.kind != "released"
    ]
    changes += [
        f"{change.name} is gone and still in the ledger" for change in plan.changes if change.kind == "released"
    ]
    if old.supernet != plan.ledger.supernet:
        changes.append(f"the supernet is {plan.ledger.supernet} and the ledger says {old.supernet}")
    return [Problem(name, None, change, WRITE) for change in changes]


def current(path: Path | None = None) -> World:
    """The fleet and its plan. Raises FleetError when the file is wrong or the ledger is missing or stale."""
    path = fleet_path(path)
    # The date only decides what a new ledger would say; a fresh one gives the same plan on every day.
    loaded, old, plan = drafted(path, datetime.datetime.now(datetime.UTC).date())
    if problems := stale(path, old, plan):
        raise FleetError(problems)
    if witness.here:
        reads.watch(loaded.fleet, plan.plan, witness.here.part)
    return World(loaded.fleet, plan.plan, path, tuple(remarks(loaded)))

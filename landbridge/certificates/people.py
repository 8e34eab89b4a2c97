"""Whom certificates are given to, and how they are taken back: the same for laptops and for SSH."""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from fleet.world import World
from landbridge import tables
from landbridge.errors import UsageError

from .ledger import Issued, Ledger
from .store import CertificateStore

Stores = Sequence[CertificateStore[Any, Any]]
COLOURS = {"holds": "green", "revoked": "red", "ended": "dim"}


class Given(NamedTuple):
    """A certificate, and the file that holds it."""

    person: str
    region: str
    serial: str
    until: datetime
    file: Path

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "file": str(self.file)}


def check(world: World, person: str, term: float, most: float, option: str) -> None:
    """`option` says the term, and in which unit: --days. Raises UsageError."""
    if person not in world.fleet.people:
        people = ", ".join(world.fleet.people) or "nobody"
        raise UsageError(
            f"{person} is nobody of the fleet: {world.path.name} has {people} under people. Add them there."
        )
    if not 0 < term <= most:
        raise UsageError(
            f"{option} {term:g}: a certificate is good for more than none, and for {most} {option[2:]} at most."
        )


def files(person: str, found: Stores, out: Path | None, suffix: str) -> list[Path]:
    """A file for each region, where one can be written. Raises UsageError."""
    if out and len(found) > 1:
        names = ", ".join(store.region for store in found)
        raise UsageError(
            f"--output {out} is one file, and {person} gets one for each of {names}. Name one with --region."
        )
    made = [out] if out else [Path(f"{person}-{store.region}{suffix}") for store in found]
    for file in made:
        if not os.access(file.parent, os.W_OK):
            raise UsageError(f"{file.parent} can't be written to. Name another place with --output.")
    return made


def holding(found: Stores, person: str, serial: str | None = None) -> dict[str, list[Issued]]:
    """Certificates of a person that count, by region; or one of them."""
    now = datetime.now(UTC)
    return {store.region: _live(store.ledger(), person, serial, now) for store in found}


def known(world: World, found: Stores, person: str) -> bool:
    """Whether they stand in the fleet file, or had a certificate: who has left is to be revoked, too."""
    return person in world.fleet.people or any(store.ledger().of(person) for store in found)


def revoke(found: Stores, person: str, serial: str | None = None) -> dict[str, list[str]]:
    """Serials that count no more, by region. The list is laid anew even for none: an earlier run may have died."""
    gone: dict[str, list[str]] = {}
    for store in found:
        now = datetime.now(UTC).replace(microsecond=0)

        def change(ledger: Ledger, now: datetime = now) -> Ledger:
            return ledger.without([one.serial for one in _live(ledger, person, serial, now)], now)

        noted = store.note(change)
        store.lay(noted, now)
        gone[store.region] = [one.serial for one in noted.of(person) if one.revoked == now]
    return gone


def _live(ledger: Ledger, person: str, serial: str | None, now: datetime) -> list[Issued]:
    return [one for one in ledger.of(person) if one.holds(now) and serial in (None, one.serial)]


def rows(found: Iterable[CertificateStore[Any, Any]]) -> list[tuple[str, Issued]]:
    """Every certificate that is known of, with its region: by person, region and time."""
    every = [(store.region, one) for store in found for one in store.ledger().issued]
    return sorted(every, key=lambda row: (row[1].person, row[0], row[1].since))


def table(listed: Iterable[tuple[str, Issued]], now: datetime, form: str) -> Table:
    """`form` is that of times, as strftime(3) has it."""
    made = tables.plain_table("person", "region", "certificate", "since", "until", "")
    for region, one in listed:
        term = one.since.astimezone().strftime(form), one.until.astimezone().strftime(form)
        state = Text(one.state(now), style=COLOURS[one.state(now)])
        made.add_row(Text(one.person, style="bold"), region, one.serial, *term, state)
    return made

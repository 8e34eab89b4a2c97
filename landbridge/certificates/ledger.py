"""What was given to whom, in one region: who, which certificate, until when, and whether it counts no more. No keys.

It is one object of the fleet bucket. Whoever changes it says which one they have read, so that no change of two people
at once is lost.
"""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

VERSION = 1


class Issued(NamedTuple):
    """One certificate."""

    serial: str
    person: str
    since: datetime
    until: datetime
    revoked: datetime | None = None

    def holds(self, now: datetime) -> bool:
        return self.revoked is None and self.until > now

    def state(self, now: datetime) -> str:
        return "revoked" if self.revoked else "holds" if self.until > now else "ended"

    def as_json(self, now: datetime) -> dict[str, Any]:
        return {**self._asdict(), "state": self.state(now)}


class Ledger(NamedTuple):
    """`number` counts its changes, and lists of revoked certificates bear it. `authority` says whose all these are."""

    number: int
    authority: str
    issued: tuple[Issued, ...] = ()

    def of(self, person: str) -> list[Issued]:
        return [one for one in self.issued if one.person == person]

    @property
    def revoked(self) -> list[Issued]:
        return [one for one in self.issued if one.revoked]

    def with_one(self, one: Issued) -> "Ledger":
        return self._replace(issued=(*self.issued, one))

    def without(self, serials: Iterable[str], at: datetime) -> "Ledger":
        """These revoked; those that are already stay as they are."""
        gone = set(serials)
        return self._replace(
            issued=tuple(
                one._replace(revoked=at) if one.serial in gone and not one.revoked else one for one in self.issued
            )
        )


def digest(certificate: str) -> str:
    """Of an authority's certificate."""
    return hashlib.sha256(certificate.strip().encode()).hexdigest()[:16]


def read(text: str, authority: str) -> Ledger:
    """Raises ValueError and KeyError. Of another authority nothing counts any more: only its number goes on."""
    record = json.loads(text)
    if record["version"] != VERSION:
        raise ValueError(f"it is of version {record['version']}, and this landbridge knows {VERSION}")
    if record["authority"] != authority:
        return Ledger(int(record["number"]), authority)
    return Ledger(int(record["number"]), authority, tuple(map(_issued, record["issued"])))


def written(ledger: Ledger) -> str:
    issued = [
        {name: value.isoformat() if isinstance(value, datetime) else value for name, value in one._asdict().items()}
        for one in ledger.issued
    ]
    record = {"version": VERSION, "number": ledger.number, "authority": ledger.authority, "issued": issued}
    return json.dumps(record, indent=1) + "\n"


def _issued(record: dict[str, Any]) -> Issued:
    since, until, revoked = (
        datetime.fromisoformat(record[name]) if record[name] else None for name in ("since", "until", "revoked")
    )
    if since is None or until is None:
        raise ValueError(f"certificate {record['serial']} has no term")
    return Issued(str(record["serial"]), str(record["person"]), since, until, revoked)

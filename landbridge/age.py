"""How old what was fetched is: told wherever it is shown. Pure."""

import datetime
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

from rich.text import Text

from fleet.dated import OLD_DAYS


class Dated(Protocol):
    """`date` is None for what holds until somebody changes it."""

    @property
    def date(self) -> datetime.date | None: ...

    def days_old(self, today: datetime.date) -> int: ...


class Kind(NamedTuple):
    """What it is, at the begin of a sentence, and the command that fetches newer ones."""

    name: str
    refresh: str


PRICES = Kind("Prices", "`landbridge prices refresh`")
SHAPES = Kind("Shapes", "`landbridge shapes refresh`")
Of = TypeVar("Of", bound=Dated)


def oldest(found: Iterable[Of | None]) -> Of | None:
    """None where none has a date."""
    return min((one for one in found if one and one.date), key=lambda one: str(one.date), default=None)


def told(kind: Kind, found: Iterable[Dated | None], today: datetime.date) -> str:
    """In a line, of the oldest of them; empty where none has a date."""
    if (one := oldest(found)) is None:
        return ""
    more = f": {kind.refresh} fetches today's" if old(one, today) else ""
    return f"{kind.name} are of {one.date}, {one.days_old(today)} days old{more}."


def line(kind: Kind, found: Iterable[Dated | None], today: datetime.date) -> Text | None:
    """The same for a terminal, yellow where they are old."""
    dated = [*found]
    text, one = told(kind, dated, today), oldest(dated)
    return Text(text, "yellow" if one and old(one, today) else "dim") if text else None


def as_json(found: Iterable[Dated | None], today: datetime.date) -> dict[str, Any] | None:
    one = oldest(found)
    return {"oldest": str(one.date), "days_old": one.days_old(today), "old": old(one, today)} if one else None


def old(one: Dated, today: datetime.date) -> bool:
    return one.days_old(today) > OLD_DAYS


def today() -> datetime.date:
    """UTC's, as the dates of lists."""
    return datetime.datetime.now(datetime.UTC).date()

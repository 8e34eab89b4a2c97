"""How old prices are: told wherever they are shown. Pure."""

import datetime
from collections.abc import Iterable
from typing import Any

from rich.text import Text

from fleet import prices
from fleet.model import Fleet
from fleet.prices import OLD_DAYS, Price

REFRESH = "`landbridge prices refresh`"


def oldest(found: Iterable[Price | None]) -> Price | None:
    """None where none has a date: what the fleet file says holds."""
    return min((one for one in found if one and one.date), key=lambda one: str(one.date), default=None)


def told(found: Iterable[Price | None], today: datetime.date) -> str:
    """In a line, of the oldest of them; empty where none has a date."""
    if (one := oldest(found)) is None:
        return ""
    days = one.days_old(today)
    more = f": {REFRESH} fetches today's" if days > OLD_DAYS else ""
    return f"Prices are of {one.date}, {days} days old{more}."


def line(found: Iterable[Price | None], today: datetime.date) -> Text | None:
    """The same for a terminal, yellow where they are old."""
    priced = [*found]
    text, one = told(priced, today), oldest(priced)
    return Text(text, "yellow" if one and one.days_old(today) > OLD_DAYS else "dim") if text else None


def as_json(found: Iterable[Price | None], today: datetime.date) -> dict[str, Any] | None:
    one = oldest(found)
    return one and {"oldest": str(one.date), "days_old": one.days_old(today), "old": one.days_old(today) > OLD_DAYS}


def of_pools(fleet: Fleet, names: Iterable[str]) -> list[Price]:
    """Those that `prices.machine` goes by."""
    pools = [fleet.pools[name] for name in names if name in fleet.pools]
    found = (prices.listed(fleet, pool.region, pool.instance_type or "") for pool in pools if pool.region)
    return [one for one in found if one]


def today() -> datetime.date:
    """UTC's, as the dates of lists."""
    return datetime.datetime.now(datetime.UTC).date()

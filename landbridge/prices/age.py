"""How old prices are: `landbridge.age` of them."""

import datetime
from collections.abc import Iterable
from typing import Any

from rich.text import Text

from fleet import prices
from fleet.model import Fleet
from fleet.prices import Price
from landbridge import age
from landbridge.age import oldest as oldest
from landbridge.age import today as today

REFRESH = age.PRICES.refresh


def told(found: Iterable[Price | None], today: datetime.date) -> str:
    return age.told(age.PRICES, found, today)


def line(found: Iterable[Price | None], today: datetime.date) -> Text | None:
    return age.line(age.PRICES, found, today)


def as_json(found: Iterable[Price | None], today: datetime.date) -> dict[str, Any] | None:
    return age.as_json(found, today)


def of_pools(fleet: Fleet, names: Iterable[str]) -> list[Price]:
    """Those that `prices.machine` goes by."""
    pools = [fleet.pools[name] for name in names if name in fleet.pools]
    found = (prices.listed(fleet, pool.region, pool.instance_type or "") for pool in pools if pool.region)
    return [one for one in found if one]

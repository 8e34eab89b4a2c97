"""What a fleet's machines in clouds cost with pools at their min and at their max. Pure."""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.text import Text

from fleet import prices
from fleet.model import Fleet
from fleet.prices import Price

from . import age
from .bought import Bought, bought

# As the clouds' own calculators count a month.
HOURS_A_MONTH = 730


class Cost(NamedTuple):
    """US dollars an hour. `unpriced` are instance types by region for which nobody has said a price: not counted."""

    least: float
    most: float
    unpriced: Mapping[str, Sequence[str]]
    priced_by: Sequence[Price]

    def as_json(self, today: datetime.date) -> dict[str, Any]:
        spans = {"least": self.least, "most": self.most}
        return {
            "usd_per_hour": {name: round(usd, 4) for name, usd in spans.items()},
            "usd_per_month": {name: round(usd * HOURS_A_MONTH, 2) for name, usd in spans.items()},
            "unpriced": {region: [*kinds] for region, kinds in self.unpriced.items()},
            "prices": age.as_json(self.priced_by, today),
        }


def of_fleet(fleet: Fleet) -> Cost:
    return _of(fleet, bought(fleet))


def an_hour(fleet: Fleet, one: Bought) -> Price | None:
    """Of one machine. A spot machine costs what such machines cost last, and no more than is bid; where nobody has
    fetched that, what it costs on demand at most.
    """
    found = one.spot and prices.listed(fleet, one.region, one.instance_type, "spot")
    found = found or prices.listed(fleet, one.region, one.instance_type)
    if one.bid is None:
        return found
    return found._replace(usd=min(one.bid, found.usd)) if found else Price(one.bid, prices.OWN)


def _of(fleet: Fleet, machines: Iterable[Bought]) -> Cost:
    least = most = 0.0
    unpriced, priced_by = defaultdict[str, set[str]](set), list[Price]()
    for one in machines:
        price = an_hour(fleet, one)
        if price is None:
            unpriced[one.region].add(one.instance_type)
            continue
        priced_by.append(price)
        least += one.least * price.usd
        most += one.most * price.usd
    return Cost(least, most, {region: sorted(kinds) for region, kinds in unpriced.items()}, priced_by)


def lines(cost: Cost, today: datetime.date) -> list[Text]:
    """For people: yellow is what they should not overlook."""
    found = list[Text]()
    if cost.priced_by:
        what = "The fleet's machines" if not cost.unpriced else "Those of the fleet's machines whose price is known"
        least, most = (f"${usd:,.2f} an hour, ${usd * HOURS_A_MONTH:,.0f} a month" for usd in (cost.least, cost.most))
        found.append(Text(f"{what} cost {least}, with pools at their min; {most} at their max."))
    if dated := age.line(cost.priced_by, today):
        found.append(dated)
    if cost.unpriced:
        missing = "; ".join(f"{region}: {', '.join(kinds)}" for region, kinds in cost.unpriced.items())
        found.append(Text(f"No price is known, and none counted, of {missing}. {age.REFRESH} fetches them.", "yellow"))
    return found

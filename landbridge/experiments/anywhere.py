"""Which of several clusters a run goes to: the one where it can begin soonest, and of those the cheapest."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fleet.errors import FleetError
from landbridge.access.person import Person
from landbridge.errors import LandbridgeError, UsageError

from .launching import Prepared, prepare
from .spec import Given


class Found(NamedTuple):
    """`others` are all clusters but the chosen one's, and why each is not it."""

    chosen: Prepared
    others: Mapping[str, str]


def anywhere(given: Given, folder: Path, clusters: Sequence[str], opened: Callable[[str], Person]) -> Found:
    """Raises UsageError where no cluster can take it. A cluster that does not answer is none."""
    able, others = list[Prepared](), dict[str, str]()
    for cluster in clusters:
        try:
            able.append(prepare(given, opened(cluster), folder))
        except (LandbridgeError, FleetError) as error:
            others[cluster] = str(error)
    if not able:
        raise _nowhere(others)
    chosen = min(able, key=lateness)
    return Found(chosen, others | {one.person.cluster: why(one) for one in able if one is not chosen})


def lateness(one: Prepared) -> tuple[bool, int, bool, float]:
    """Less is sooner: there is room now, fewer wait, machines are there already; and then less money."""
    offer, place = one.offer, one.offer.chosen
    cost = math.inf if place is None or place.usd_an_hour is None else place.usd_an_hour
    return bool(offer.waits), offer.ahead, bool(place and place.buys), cost


def why(one: Prepared) -> str:
    """What it would be there."""
    place = one.offer.chosen
    where = place.place if place else "nowhere"
    if one.offer.waits:
        return f"it would wait: {one.offer.waits}"
    if place and place.buys:
        cost = "at an unknown price" if place.usd_an_hour is None else f"for ${place.usd_an_hour:,.2f} an hour"
        return f"it would begin in {where}, with machines to buy {cost}"
    return f"it would begin in {where}, too"


def _nowhere(others: Mapping[str, str]) -> UsageError:
    reasons = set(others.values())
    if len(reasons) == 1:
        return UsageError(reasons.pop())
    if not others:
        return UsageError("--cluster any: no cluster of the fleet has queues. Give a team one: teams.TEAM.queues.")
    return UsageError("No cluster can take it:\n" + "\n".join(f"{name}: {text}" for name, text in others.items()))

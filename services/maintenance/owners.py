"""Tells teams by their webhooks whose work a plan concerns: when it is announced, and when it begins."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from fleet.maintenance import SOURCES, NodeState, Plan, stamp
from services import webhook

from .steps import times

MOST_NAMED = 3
DRAINS = "draining"


def messages(
    cluster: str, plan: Plan, before: Mapping[str, NodeState], after: Mapping[str, NodeState]
) -> Iterator[tuple[str, str]]:
    """Team and text: for each team whose work came under the plan, and where its machines are emptied."""
    for team in sorted({team for one in after.values() for team in one.teams}):
        mine = {name: one for name, one in after.items() if team in one.teams}
        fresh = [name for name in mine if name not in before or team not in before[name].teams]
        begun = [name for name, one in mine.items() if one.phase == DRAINS and _phase(before, name) != DRAINS]
        if fresh and not begun:
            start = stamp(min(times(plan, mine[name].told).begins for name in fresh))
            yield team, f"{_what(cluster, plan, fresh)}, from {start}. `landbridge maintenance show {plan.name}`"
        if begun:
            yield team, f"{_what(cluster, plan, begun)}: it begins, and your work there is asked to leave"


def _phase(states: Mapping[str, NodeState], name: str) -> str:
    return states[name].phase if name in states else ""


def _what(cluster: str, plan: Plan, names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{cluster}: {', '.join(names[:MOST_NAMED])}{more}: {plan.why} ({SOURCES[plan.source].who})"


class Owners:
    """`folder` has teams' addresses, a file each; None: nobody is told."""

    def __init__(self, folder: Path | None, cluster: str) -> None:
        self.folder, self.cluster = folder, cluster

    def tell(self, plan: Plan, before: Mapping[str, NodeState], after: Mapping[str, NodeState]) -> None:
        """Nothing waits for whoever does not answer."""
        if self.folder is None:
            return
        for team, text in messages(self.cluster, plan, before, after):
            if url := webhook.address(self.folder, team):
                threading.Thread(target=webhook.post, args=(url, team, text), daemon=True).start()

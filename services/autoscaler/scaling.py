"""All scaling groups of a cluster, over all its regions: what the autoscaler asks for, within limits and breakers.

Regions are looked at beside each other, each in a thread of its own: one that is out leaves the others as they are.
"""

import functools
import math
import threading
import time
import traceback
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, wait

from . import clouds, limits, metrics, nodes
from . import group as groups
from .cloud import AT_ONCE, Cloud, CloudError
from .decisions import record
from .group import Group, NotPossibleError
from .region import ANYBODY, REST_SECONDS, Caller, Region
from .settings import Settings

# The replica that does not lead is asked nothing, and asks no cloud. Before that it takes nothing back any more, since
# another leads 15 s after it has stopped (the lease's).
LEADS_SECONDS, STANDBY_SECONDS = 15.0, 60.0
# What a first answer may wait for; a region that takes longer is as it was known before.
FIRST_LOOK_SECONDS = 15.0
MOST_PAUSE_SECONDS = 60.0
# Between two looks of the autoscaler at most this share of the machines goes that were there lately, or one. Of those
# that are there now it would be fewer with each look, and the last of a burst would stay for long.
SHARE, LATELY_SECONDS = 0.1, 900.0


class Scaling:
    """`frozen` says why no machine may be ended, `stopped` why none of a region with these machines; `cloud` makes a
    region's side of a cloud from the settings and its name.
    """

    def __init__(
        self,
        settings: Settings,
        frozen: Callable[[], str] = str,
        cloud: Callable[[Settings, str], Cloud] = clouds.cloud,
        stopped: Callable[[str, Collection[str]], str] = nodes.unasked,
    ) -> None:
        self.settings, self.frozen, self.stopped, self.memory = settings, frozen, stopped, threading.Lock()
        self.regions = {
            name: Region(
                name,
                [one for one in settings.groups if one.region == name],
                cloud(settings, name),
                self.memory,
                functools.partial(self._stop, name),
            )
            for name in settings.region_clouds
        }
        self.region_of = {one.name: self.regions[one.region] for one in settings.groups}
        self.asked_at = -math.inf
        self.gone_this_pass = 0
        # How many machines there were, and when.
        self.were: list[tuple[float, int]] = []
        self.wake = {name: threading.Event() for name in self.regions}

    def start(self) -> None:
        """Looks from now on, until the program ends."""
        for name in self.regions:
            threading.Thread(target=self._watch, args=(name,), name=f"look-{name}", daemon=True).start()

    def _watch(self, name: str) -> None:
        region, failing = self.regions[name], False
        busy = pause = region.cloud.busy_seconds
        while True:
            quiet = time.monotonic() - self.asked_at
            if quiet < STANDBY_SECONDS:
                try:
                    region.look(leads=quiet < LEADS_SECONDS)
                    if failing:
                        record("region-well", region=name)
                    pause, failing = busy if region.busy else REST_SECONDS, False
                except Exception as error:  # a mistake of ours is no reason to look never again
                    if not failing:
                        record("region-problem", region=name, why=_why(error))
                    pause, failing = min(2 * pause, MOST_PAUSE_SECONDS) if failing else busy, True
            self.wake[name].wait(pause)
            self.wake[name].clear()

    def refresh(self) -> None:
        """A new pass of the autoscaler begins. After a time without one, what is known is renewed first."""
        slept = time.monotonic() - self.asked_at > STANDBY_SECONDS
        self.asked_at, self.gone_this_pass = time.monotonic(), 0
        if slept:
            for region in self.regions.values():
                region.take_over()
            pool = ThreadPoolExecutor(len(self.regions) or 1)
            lookups = {pool.submit(region.look): name for name, region in self.regions.items()}
            done, _ = wait(lookups, FIRST_LOOK_SECONDS)
            pool.shutdown(wait=False)
            for look in done:
                if error := look.exception():
                    record("region-problem", region=lookups[look], why=_why(error))
        with self.memory:
            alive = sum(len(one.live) for one in self._groups().values())
        recent = [one for one in self.were if self.asked_at - one[0] < LATELY_SECONDS]
        self.were = [*recent, (self.asked_at, alive)]

    @property
    def groups(self) -> dict[str, Group]:
        """Those that the clouds have, by name."""
        with self.memory:
            return self._groups()

    def _groups(self) -> dict[str, Group]:
        return {name: one for region in self.regions.values() for name, one in region.groups.items()}

    def group(self, name: str) -> Group:
        """Raises KeyError."""
        with self.memory:
            return self.region_of[name].groups[name]

    def owner(self, instance: str) -> str | None:
        """The group that a machine is in, by the cloud's id of it."""
        return next((name for region in self.regions.values() if (name := region.place.get(instance))), None)

    def _counted(self) -> dict[str, int]:
        """What limits count: of a region that has never answered, all that may be there."""
        silent = {one.name: one.most for one in self.settings.groups if not self.regions[one.region].answered}
        return silent | {name: one.wanted for name, one in self._groups().items()}

    def most(self, names: Collection[str]) -> dict[str, int]:
        """The sizes that groups may be told to have: the limits of all are in them. Without those that are gone."""
        with self.memory:
            known, sizes = self._groups().keys(), self._counted()
        return {name: sizes[name] + limits.room(self.settings, sizes, name).machines for name in names if name in known}

    def grow(self, name: str, by: int, caller: Caller = ANYBODY) -> None:
        """Raises NotPossibleError above a limit, CloudError."""
        region = self.region_of[name]

        def change(one: Group) -> Group:
            room = limits.room(self.settings, self._counted(), name)
            if by > room.machines:
                raise NotPossibleError(f"{room.code}: {name} may not grow by {by}: {room.why}")
            return groups.grown(one, by, time.time())

        try:
            region.grow(name, change, caller)
        except (NotPossibleError, CloudError) as error:
            record("no-grow", group=name, region=region.name, machines=by, why=str(error))
            raise
        record("grow", group=name, region=region.name, machines=by)
        self.wake[region.name].set()

    def shrink(self, name: str, by: int, caller: Caller = ANYBODY) -> None:
        """Gives up so many that have not come, or as many as there are."""
        region = self.region_of[name]
        if fewer := region.shrink(name, by, caller):
            record("shrink", group=name, region=region.name, machines=fewer)
            self.wake[region.name].set()

    def _stop(self, name: str) -> str:
        """Why no machine of the region may be ended now, with a code in front; empty if they may."""
        if frozen := self.frozen():
            return f"frozen: {frozen}"
        with self.memory:
            groups_here = self.regions[name].groups.values()
            live = [machine.node or machine.id for one in groups_here for machine in one.live]
        return self.stopped(name, live)

    def delete(self, name: str, ids: Collection[str], caller: Caller = ANYBODY) -> None:
        """Ends machines, as many as may go, and forgets placeholders. Raises NotPossibleError and CloudError for those
        that stay: the autoscaler asks again for them.
        """
        region = self.region_of[name]
        # A placeholder is no machine, and its end asks nobody.
        stop = region.stop() if not region.place.keys().isdisjoint(ids) else ""
        with self.memory:
            one = region.groups[name]
            known = {machine.id for machine in one.machines} | {refused.id for refused in one.refused}
            region.groups[name] = groups.cleared(one, ids)
            wanted = [machine.id for machine in one.live if machine.id in ids]
            lately = max((count for _, count in self.were), default=0)
            most = max(1, math.floor(SHARE * lately))
            going = [] if stop else wanted[: min(max(0, most - self.gone_this_pass), AT_ONCE)]
            self.gone_this_pass += len(going)
        problem: Exception | None = None
        if len(going) < len(wanted):
            late = f"too-many-at-once: there were {lately} machines lately, and at most {most} go in one pass"
            problem = NotPossibleError(stop or late)
            metrics.incomplete_ends.labels(region.name, str(problem).partition(":")[0]).inc()
        if strangers := sorted(set(ids) - known):
            problem = NotPossibleError(f"{', '.join(strangers)}: not in {name}")
        gone: list[str] = []
        if going:
            try:
                stay = region.end(name, going, caller)
                gone = [id_ for id_ in going if id_ not in stay]
                problem = next(iter(stay.values()), problem)
            except (NotPossibleError, CloudError) as error:
                problem = error
        if gone:
            record("end", group=name, region=region.name, ids=gone)
            self.wake[region.name].set()
        if problem:
            record("no-end", group=name, region=region.name, ids=sorted(set(wanted) - set(gone)), why=str(problem))
            raise problem


def _why(error: BaseException) -> str:
    """A cloud's words, or where the mistake is."""
    return str(error) if isinstance(error, CloudError) else "".join(traceback.format_exception(error)[-3:])

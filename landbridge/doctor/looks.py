"""All looks, side by side, each with the same time: one that takes longer is a finding, and holds nobody up."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple

from botocore.exceptions import BotoCoreError, ClientError
from pulumi.automation import CommandError

from ..cluster.session import Session
from ..errors import LandbridgeError
from ..etcd.ring import RING
from . import clusters, files, hosts, leftovers, links, local_cloud, set_up, states
from .finding import Finding
from .patient import Patient

SECONDS = 12.0
# In the order in which people are told of what is equally bad.
ALWAYS = {set_up.AREA: set_up.look, files.AREA: files.look, local_cloud.AREA: local_cloud.look}
OF_STACKS = {states.AREA: states.look, links.AREA: links.look}
OF_CLUSTER: dict[str, Callable[[Patient, Session], Iterator[Finding]]] = {
    "": clusters.api,
    **{f", etcd {ring}": partial(clusters.etcd, ring=ring) for ring in RING},
    ", pools": clusters.pools,
    ", certificates": clusters.certificates,
}


class Look(NamedTuple):
    """`area` is for people, and says where the look looks."""

    area: str
    ask: Callable[[], Iterator[Finding]]


class Looked(NamedTuple):
    """The outcome: findings worst first, every area that was looked at, how long it took, and who still hangs."""

    findings: list[Finding]
    areas: list[str]
    seconds: float
    late: list[str]


def of(patient: Patient) -> list[Look]:
    """Which looks there are for a fleet as far as it can be looked at."""
    found = [Look(area, partial(look, patient)) for area, look in ALWAYS.items()]
    if patient.world is None or patient.place is None:
        return found
    found += [Look(area, partial(look, patient)) for area, look in OF_STACKS.items()]
    for name, session in patient.standing.items():
        found += [Look(f"cluster {name}{what}", partial(look, patient, session)) for what, look in OF_CLUSTER.items()]
    found += [Look(f"site {name}", partial(hosts.look, patient, name)) for name in patient.world.fleet.sites]
    return found + [
        Look(f"{leftovers.AREA} in {region}", partial(leftovers.look, patient, region))
        for region in patient.world.fleet.regions
    ]


def run(looks: Sequence[Look], begun: Sequence[Finding] = (), seconds: float = SECONDS) -> Looked:
    """Has all of them done. `begun` is what is known before."""
    since, told = time.monotonic(), SimpleQueue[tuple[int, list[Finding]]]()
    for number, look in enumerate(looks):
        threading.Thread(target=_work, args=(number, look, told), daemon=True).start()
    found, waiting = dict[int, list[Finding]](), set(range(len(looks)))
    while waiting and (left := since + seconds - time.monotonic()) > 0:
        try:
            number, some = told.get(timeout=left)
        except Empty:
            break
        found[number] = some
        waiting.discard(number)
    every, late = (
        [*begun, *(one for number in sorted(found) for one in found[number])],
        [looks[n].area for n in waiting],
    )
    silent = f"no answer within {seconds:.0f} s"
    every += [Finding(area, "ailing", silent, "Its own command waits longer, and says more") for area in sorted(late)]
    areas = [look.area for look in looks]
    return Looked(sorted(every, key=lambda one: one.rank), areas, time.monotonic() - since, sorted(late))


def _work(number: int, look: Look, told: "SimpleQueue[tuple[int, list[Finding]]]") -> None:
    found = list[Finding]()
    try:
        found.extend(look.ask())
    except (LandbridgeError, CommandError, ClientError, BotoCoreError, OSError) as error:
        why = str(error).strip().partition("\n")[0].rstrip(".")
        found.append(Finding(look.area, "ailing", f"it can't be looked at: {why}", "See to that, then ask again"))
    except Exception as error:  # our own mistake in one look: the others have something to say
        found.append(
            Finding(look.area, "ailing", f"a mistake in landbridge: {type(error).__name__}: {error}", "Report it")
        )
    finally:
        told.put((number, found))

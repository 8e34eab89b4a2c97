"""All looks, side by side, each with the same time: one that takes longer is a finding, and holds nobody up."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple

from botocore.exceptions import BotoCoreError, ClientError
from pulumi.automation import CommandError

import installation
from landbridge.cli import crash_log
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError
from landbridge.etcd.ring import RING
from landbridge.local import enter

from . import clusters, files, hosts, leftovers, links, local_cloud, set_up, states
from .finding import Finding
from .subject import Patient

SECONDS = 12.0
# Area → the look, and what says more of that area. In the order in which people are told of what is equally bad.
ALWAYS = {
    set_up.AREA: (set_up.look, installation.SETUP),
    files.AREA: (files.look, "`landbridge plan`"),
    local_cloud.AREA: (local_cloud.look, "`landbridge local machines`"),
}
OF_STACKS = {states.AREA: (states.look, "status"), links.AREA: (links.look, "links check")}
Of = Callable[[Patient, Session], Iterator[Finding]]
OF_CLUSTER: dict[str, tuple[Of, str]] = {
    "": (clusters.api, "cluster status {name}"),
    **{
        f", etcd {ring}": (partial(clusters.etcd, ring=ring), f"etcd status --ring {ring} --cluster {{name}}")
        for ring in RING
    },
    ", pools": (clusters.pools, "pool list --cluster {name}"),
    ", certificates": (clusters.certificates, "pki status --cluster {name}"),
}


class Look(NamedTuple):
    """`area` is for people, and says where the look looks; `command` waits longer there, and says more."""

    area: str
    ask: Callable[[], Iterator[Finding]]
    command: str


class Looked(NamedTuple):
    """The outcome: findings worst first, every area that was looked at, how long it took, and who still hangs."""

    findings: list[Finding]
    areas: list[str]
    seconds: float
    late: list[str]


def of(patient: Patient) -> list[Look]:
    """Which looks there are for a fleet as far as it can be looked at."""

    def made(area: str, ask: Callable[[], Iterator[Finding]], command: str) -> Look:
        return Look(area, ask, patient.command(command))

    # These take no --local or --fleet of everybody's.
    found = [Look(area, partial(look, patient), command) for area, (look, command) in ALWAYS.items()]
    if patient.world is None or patient.place is None:
        return found
    found += [made(area, partial(look, patient), command) for area, (look, command) in OF_STACKS.items()]
    for name, session in patient.standing.items():
        found += [
            made(f"cluster {name}{what}", partial(look, patient, session), command.format(name=name))
            for what, (look, command) in OF_CLUSTER.items()
        ]
    fleet = patient.world.fleet
    found += [made(f"site {name}", partial(hosts.look, patient, name), f"site status {name}") for name in fleet.sites]
    return found + [
        made(f"{leftovers.AREA} in {region}", partial(leftovers.look, patient, region), f"status --drift {region}")
        for region in fleet.regions
    ]


def run(checks: Sequence[Look], begun: Sequence[Finding] = (), seconds: float = SECONDS) -> Looked:
    """Has all of them done. `begun` is what is known before."""
    since, results = time.monotonic(), SimpleQueue[tuple[int, list[Finding]]]()
    for number, look in enumerate(checks):
        threading.Thread(target=_work, args=(number, look, results), daemon=True).start()
    found, waiting = dict[int, list[Finding]](), set(range(len(checks)))
    while waiting and (left := since + seconds - time.monotonic()) > 0:
        try:
            number, some = results.get(timeout=left)
        except Empty:
            break
        found[number] = some
        waiting.discard(number)
    every, late = list(begun), [checks[number] for number in sorted(waiting)]
    for number in sorted(found):
        every += found[number]
    silent = f"no answer within {seconds:.0f} s"
    every += [Finding(look.area, "ailing", silent, f"{look.command} waits longer, and says more") for look in late]
    areas, names = [look.area for look in checks], [look.area for look in late]
    return Looked(sorted(every, key=lambda one: one.rank), areas, time.monotonic() - since, names)


def _work(number: int, look: Look, results: "SimpleQueue[tuple[int, list[Finding]]]") -> None:
    found = list[Finding]()
    try:
        found.extend(look.ask())
    except (LandbridgeError, CommandError, ClientError, BotoCoreError, OSError) as error:
        why = str(error).strip().partition("\n")[0].rstrip(".")
        found.append(Finding(look.area, "ailing", f"it can't be looked at: {why}", f"{look.command} says more"))
    except Exception as error:  # our own mistake in one look: the others have something to say
        what = f"a mistake in landbridge: {type(error).__name__}: {error}"
        found.append(Finding(look.area, "ailing", what, f"Report it with its traceback, {crash_log(enter.HOME)}"))
    finally:
        results.put((number, found))

"""What must hold before a burst is begun: an autoscaler at work, room in the pools, memory for the local machines."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from fleet.model import Fleet, Pool
from landbridge.autoscaler import status
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError, UsageError
from landbridge.pool import usage

from . import burst_state, shortage
from .burst import PAUSE_SECONDS, SELECTOR, Burst

# What one more local machine takes, by what a burst of 192 took of the computer's free memory.
MACHINE_MIB = 50
# Left to the rest of the computer.
SPARE_MIB = 1024
# Just after an `up` the autoscaler looks around first.
WELL_SECONDS = 120.0


def prepared(session: Session, gpus: int, *, short: bool = True) -> Burst:
    """A burst that can be: nothing is begun. `short`: a region is to run out of hardware, where another one can help.

    Raises UsageError, LandbridgeError.
    """
    fleet, cluster = session.world.fleet, session.info.name
    mine = burst_state.pools(fleet, cluster)
    if not mine:
        raise UsageError(f"{cluster} has no pool of kind gpu: there is nothing to burst into.")
    healthy(session)
    sizes = {burst_state.gpus(fleet, pool) for pool in mine.values()}
    each = min(sizes)
    if any(size % each for size in sizes) or gpus % each:
        raise UsageError(f"A pod of the burst takes a machine's {each} GPUs: --gpus must be a multiple of {each}.")
    found = burst_state.look(session, mine, SELECTOR)
    free = {name: room(session, name, pool, found[name]) for name, pool in mine.items()}
    if gpus > sum(free.values()):
        counts = ", ".join(f"{name} {number}" for name, number in free.items())
        raise UsageError(f"{cluster} has room for {sum(free.values())} GPUs now, not for {gpus}: {counts}.")
    before = {name: one.machines for name, one in found.items()}
    shares = burst_state.shares(free, gpus)
    fewer = shortage.halved(shares, {name: burst_state.gpus(fleet, pool) for name, pool in mine.items() if pool.region})
    less = {name: count * burst_state.gpus(fleet, mine[name]) for name, count in fewer.items()}
    # Who comes after it may lack the room.
    if short and fewer and gpus <= sum(free.values()) - sum(free[name] - less[name] for name in less):
        shares = burst_state.shares({**free, **less}, gpus)
    else:
        fewer = {}
    most = {name: count + alike(fleet, before, name) for name, count in fewer.items()}
    made = Burst(session, gpus, mine, each, shares, before, burst_state.launched(session, mine), most)
    fits(made, memory_mib())
    return made


def alike(fleet: Fleet, before: Mapping[str, int], name: str) -> int:
    """Machines of the pool's type that stand in its region, of whichever pool."""
    wanted = (fleet.pools[name].region, fleet.pools[name].instance_type)
    return sum(
        count
        for other, count in before.items()
        if (fleet.pools[other].region, fleet.pools[other].instance_type) == wanted
    )


def healthy(session: Session, patience: float = WELL_SECONDS) -> None:
    """Raises LandbridgeError for an autoscaler that is not there, stays in trouble, or may end nothing."""
    deadline = time.monotonic() + patience
    while True:
        found = status.look(session.admin, session.world.fleet, session.info.name, datetime.now(UTC))
        if not found.trouble or time.monotonic() > deadline:
            break
        time.sleep(PAUSE_SECONDS)
    if found.dry_run:
        raise UsageError(f"{session.info.name}'s autoscaler is on a dry run, and buys nothing (autoscaler_dry_run).")
    if found.trouble:
        raise LandbridgeError(f"Nothing was begun. {' '.join(found.trouble)}")
    if found.frozen is not None:
        why = f"frozen since {found.frozen.get('since')}: {found.frozen.get('why')}"
        raise LandbridgeError(
            f"Nothing was begun: {session.info.name} is {why}, so what a burst buys would stay. "
            "`landbridge unfreeze --local` lets machines go."
        )


def room(session: Session, name: str, pool: Pool, found: burst_state.Look) -> int:
    """GPUs that are free on machines that are there or may still come, whole machines only."""
    each = burst_state.gpus(session.world.fleet, pool)
    if pool.region:
        return max(0, pool.max - found.asked) * each
    used = usage.pods(session.admin)
    ready = usage.of_pool(session.admin, name)
    return each * sum(not any(usage.gpus(pod) for pod in used.get(node, ())) for node in ready)


def fits(made: Burst, free_mib: int) -> None:
    """Raises UsageError where the computer has no memory for so many machines."""
    needed = made.machines * MACHINE_MIB + SPARE_MIB
    if needed <= free_mib:
        return
    most = max(0, free_mib - SPARE_MIB) // MACHINE_MIB
    site = made.gpus - sum(made.shares[name] for name, _ in made.clouds)
    raise UsageError(
        f"{made.gpus} GPUs are {made.machines} more local machines of some {MACHINE_MIB} MiB each: that takes "
        f"{needed / 1024:.1f} GiB of memory, and {free_mib / 1024:.1f} GiB are free. "
        f"--gpus {site + most * made.each} fits."
    )


def memory_mib() -> int:
    meminfo = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return int(meminfo["MemAvailable"].split()[0]) // 1024

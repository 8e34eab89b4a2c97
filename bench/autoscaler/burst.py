"""A Job that asks for 1,600 GPUs, on machines that a thread plays: how long after the autoscaler's own wait all run."""

import time
from collections.abc import Iterator
from pathlib import Path

from bench.autoscaler.row import Row
from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import autoscaled, timeline

GPUS, GPUS_A_MACHINE, SITE = 1600, 8, 8
# The autoscaler's own, for pods with GPUs.
WAIT_SECONDS, GOAL_SECONDS = 30.0, 15.0


def rows(folder: Path) -> Iterator[Row]:
    with autoscaled(folder, SITE) as one:
        began = time.time()
        one.job("burst", GPUS // GPUS_A_MACHINE)
        eventually(lambda: one.running("burst") == GPUS // GPUS_A_MACHINE, 600)
        beyond = time.time() - began - WAIT_SECONDS
        print(*timeline(one, began), sep="\n")
        launched = one.launched()
    goal = f"{GOAL_SECONDS:g} s"
    yield Row(
        f"{GPUS} GPUs at work, beyond the wait of {WAIT_SECONDS:g} s", f"{beyond:.1f} s", goal, beyond <= GOAL_SECONDS
    )
    wanted = GPUS // GPUS_A_MACHINE - SITE
    total = sum(launched.values())
    yield Row("machines launched for it, by the cloud's ledger", f"{total}", f"{wanted}", total == wanted)

"""`up` and `destroy` killed at moments that a seed draws, then the same command once more: it ends well, and nothing is left.

    python -m tests.e2e.kills --seeds 1-10 --fleet both

runs the matrix, four kills a seed; tests/e2e/test_kills.py has a seed of a small fleet. Seeds that fail become tests of their own.
"""

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.test_kept import different
from tests.e2e.worlds import IN_BOTH, SUBSCRIPTION, TENANT
from tests.support.cloud import Cloud, make

# Regions of both clouds, a site and what joins them: no machines.
SMALL = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "012345678901"}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {TENANT}}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b]}}
  southcentralus: {{cloud: azure, zones: ["1", "2"]}}
sites:
  lab: {{gateways: [192.0.2.10], asn: 65010}}
teams:
  ops: {{gid: 2000}}
"""
FLEETS = {"small": SMALL, "both": IN_BOTH}
UP = ("up", "--local", "--yes")
DESTROY = ("destroy", "--local", "--yes", "--ignore-protect", "--with-volumes")
# "it always ends well, within twice the usual time"; a machine that does other things besides gets a little more.
TIMES, SPARE_SECONDS = 2.0, 20.0
# Each life of a cluster leaves its keys (docs/guide/clusters.md); a vault's names have no slash.
RECOVERY = re.compile("(/|--)recovery-")
# Until a command is at its work.
START_SECONDS = 1.0


class Usual(NamedTuple):
    """What a clean run is: seconds of each command, and what stands and is left by kinds."""

    up_seconds: float
    destroy_seconds: float
    stands: dict[str, int]
    left: dict[str, int]


def counted(cloud: Cloud) -> dict[str, int]:
    """How many there are, by cloud and kind: names hold digits that chance draws."""
    return {kind: len(names) for kind, names in listed(cloud).items() if names}


def listed(cloud: Cloud) -> dict[str, list[str]]:
    """What there is by cloud and kind. Objects come by the hour."""
    found = {
        f"{account} {region} {kind}": held
        for account, regions in cloud.inventory().items()
        for region, kinds in regions.items()
        for kind, held in kinds.items()
        if kind != "s3 objects"
    }
    found |= {f"azure {kind}": held for kind, held in cloud.azure_inventory().items()}
    return {kind: [name for name in held if not RECOVERY.search(name)] for kind, held in found.items()}


def timed(cloud: Cloud, command: tuple[str, ...]) -> float:
    since = time.monotonic()
    cloud.run(*command, seconds=1200)
    return time.monotonic() - since


def usual(cloud: Cloud) -> Usual:
    cloud.run("preview", "--local")
    up = timed(cloud, UP)
    stands = counted(cloud)
    return Usual(up, timed(cloud, DESTROY), stands, counted(cloud))


def killed(cloud: Cloud, command: tuple[str, ...], after_seconds: float) -> bool:
    """Whether it was still at it: the whole of it is killed, engine, plugins and programs."""
    running = cloud.start(*command)
    deadline = time.monotonic() + after_seconds
    while time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.05)
    at_it = running.poll() is None
    if at_it:
        os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    return at_it


def story(cloud: Cloud, seed: int, kills: int, clean: Usual) -> list[dict[str, Any]]:
    """`kills` kills of `up`, then it; as many of `destroy`, then that. Raises AssertionError. Gives a row a kill."""
    draw, rows = random.Random(seed), []
    for command, seconds, stands in (
        (UP, clean.up_seconds, clean.stands),
        (DESTROY, clean.destroy_seconds, clean.left),
    ):
        moments = sorted(draw.uniform(0.0, seconds) for _ in range(kills))
        for since, moment in pairwise([0.0, *moments]):
            after = START_SECONDS + moment - since  # a run goes on where the last one was killed
            rows.append(
                {"seed": seed, "command": command[0], "after": round(after, 1), "hit": killed(cloud, command, after)}
            )
        took = timed(cloud, command)
        rows[-1] |= {"took": round(took, 1), "usual": round(seconds, 1)}
        # Outside pytest an assert says nothing.
        if took > TIMES * seconds + SPARE_SECONDS:
            raise AssertionError(f"it took {took:.0f} s: {rows}")
        if found := different(counted(cloud), stands):
            names = {kind: held for kind, held in listed(cloud).items() if f"/{kind}" in found}
            raise AssertionError(f"kinds that differ, now and in a clean run: {found}, now: {names}: {rows}")
        if command is UP:
            cloud.run(*UP, "--full", "--expect-no-changes", seconds=600)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-10", help="from-to")
    parser.add_argument("--kills", type=int, default=2, help="of each of the two commands, a seed")
    parser.add_argument("--fleet", choices=FLEETS, default="both")
    asked = parser.parse_args()
    first, _, last = asked.seeds.partition("-")
    with tempfile.TemporaryDirectory() as folder:
        cloud = make(Path(folder), FLEETS[asked.fleet])
        try:
            clean = usual(cloud)
            sys.stdout.write(f"usual: up {clean.up_seconds:.0f} s, destroy {clean.destroy_seconds:.0f} s\n")
            sys.stdout.flush()
            for seed in range(int(first), int(last or first) + 1):
                for row in story(cloud, seed, asked.kills, clean):
                    sys.stdout.write(json.dumps(row) + "\n")
                    sys.stdout.flush()
        finally:
            cloud.stop()


if __name__ == "__main__":
    main()

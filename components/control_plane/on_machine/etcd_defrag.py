"""Gives free space of this machine's etcd member back to the disk: etcd_defrag.py RING [--now].

It blocks the member for its time, so: never two members at once (a lock in the ring itself), never in a ring that is
not whole, never on the leader (which hands over before), and not where there is little to win. With --now, for a
person who sees to that, without the lock and the thresholds: a ring whose quota is used up refuses the lock.
"""

import subprocess
import sys
import time

from machine import say
from ring import Ring, RingError

LEAST_BYTES, LEAST_PART = 64 << 20, 0.25
WAIT_SECONDS, DEFRAG_SECONDS, BACK_SECONDS = 900, 600, 60
LOCKED = "--locked"


def worthwhile(size: int, in_use: int) -> bool:
    return size - in_use >= max(LEAST_BYTES, size * LEAST_PART)


def defragment(ring: Ring) -> None:
    before = ring.status()
    if before.leader == before.member:
        hand_over(ring, before.member)
    began = time.monotonic()
    ring.ctl("defrag", f"--command-timeout={DEFRAG_SECONDS}s")
    after = ring.status()
    say(f"etcd {ring.name}: {before.size} bytes became {after.size} in {time.monotonic() - began:.1f} s")


def hand_over(ring: Ring, own: int) -> None:
    for member, name in ring.voters():
        if member != own:
            try:
                ring.ctl("move-leader", f"{member:x}")
            except RingError as error:
                say(f"{name} does not take the lead: {error}")
            else:
                say(f"{name} leads now")
                return
    say("nobody else takes the lead: defragments the leader")


def whole(ring: Ring) -> bool:
    """Whether every member answers and no alarm is raised."""
    try:
        ring.ctl("endpoint", "health", "--command-timeout=10s", endpoints=ring.all())
        alarms = ring.ctl("alarm", "list").strip()
    except RingError as error:
        say(f"skipped: etcd {ring.name} is not whole: {error}")
        return False
    if alarms:
        say(f"skipped: etcd {ring.name} has raised {alarms}: a person must look at it")
    return not alarms


def main() -> int:
    ring, how = Ring(sys.argv[1]), sys.argv[2:]
    if "--now" in how:
        defragment(ring)
        return 0
    if LOCKED in how:
        # Another member may have been at it while this one waited for its turn.
        if whole(ring):
            defragment(ring)
            deadline = time.monotonic() + BACK_SECONDS
            while not whole(ring) and time.monotonic() < deadline:
                time.sleep(1)
        return 0
    status = ring.status()
    if not worthwhile(status.size, status.in_use):
        say(f"skipped: {status.in_use} of {status.size} bytes are in use: there is little to win")
        return 0
    if not whole(ring):
        return 0
    lock = ["lock", "--ttl=30", f"landbridge/defrag/{ring.name}", sys.executable, sys.argv[0], ring.name, LOCKED]
    try:
        return subprocess.run(ring.command(*lock, endpoints=ring.all()), timeout=WAIT_SECONDS, check=False).returncode
    except subprocess.TimeoutExpired:
        say(f"skipped: no turn for {WAIT_SECONDS} s, another member is at it")
        return 0


if __name__ == "__main__":
    sys.exit(main())

"""Whoever writes to a share through a tunnel that dies waits for seconds, and loses nothing."""

import json
import time
from typing import Any

from components.links.gateway.spec import End

from . import nfs, report
from .lab import Lab
from .machines import awaited
from .test_failover import AGAIN_SECONDS, taken_again, watched

REGION = "us-west-2"
WRITE_SECONDS, BEGIN_SECONDS = 20.0, 30.0
# Of a writer, in a second; all else that passes is a hundredth of it.
BUSY_BYTES = 200_000
# Beside the failover itself TCP waits twice as long each time before it sends again.
MOST_SECONDS = 25.0
FILES = tuple(f"checkpoint-{number}" for number in range(1, 6))


def sent(lab: Lab) -> dict[End, int]:
    """By the region's tunnels."""
    read = lab.gateway.machine.read
    return {end: int(read(f"/sys/class/net/{end.device}/statistics/tx_bytes")) for end in lab.ends(REGION)}


def taken(lab: Lab) -> End:
    """The one tunnel that the writer's flow takes, once it writes. Raises LabError."""
    found: list[End] = []

    def writes() -> bool:
        before = sent(lab)
        time.sleep(1)
        found[:] = [end for end, count in sent(lab).items() if count - before[end] > BUSY_BYTES]
        # Two of them: the flow moved meanwhile.
        return len(found) == 1

    awaited("somebody writes", writes, BEGIN_SECONDS)
    return found[0]


def written_meanwhile(lab: Lab, file: str) -> dict[str, Any]:
    """What became of a file whose writer's tunnel died."""
    lab.settle()
    with watched(lab):
        client = nfs.writing(lab.host, lab.addresses(lab.networks[REGION])[0], file, WRITE_SECONDS)
        with lab.silent(taken(lab)):
            said, _ = client.communicate(timeout=nfs.CLIENT_SECONDS)
        awaited("it is taken again", lambda: taken_again(lab), AGAIN_SECONDS, 0.5)
    told: dict[str, Any] = json.loads(said or "{}")
    assert told, lab.host.log.read_text()[-500:]
    assert told["written"] == told["read"] == nfs.digest(lab.hubs[REGION].host, file)
    return told


def test_what_is_written_while_a_tunnel_dies_is_all_there(lab: Lab) -> None:
    nfs.serve(lab.hubs[REGION].host)
    for file in FILES:
        told = written_meanwhile(lab, file)
        # Where the machine stood still for long the watchdog has left that tunnel already, and the writer with it.
        if (pause := told["pause_seconds"]) > 1:
            break
    what = f"longest pause {pause:.1f} s, {told['bytes']:,} bytes written, none lost"
    report.note("an NFS writer's tunnel dies", what, f"{MOST_SECONDS:g} s")
    assert 1 < pause < MOST_SECONDS, f"the writer's own tunnel died: {lab.gateway.machine.log.read_text()[-1000:]}"

"""Going back to what is left when a ring has lost more than it bears: exactly the rest is lost."""

import io
import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from landbridge.cluster import freeze
from landbridge.etcd.machine_steps import side_by_side
from landbridge.etcd.restore_command import restored
from landbridge.output import Output

from .bench import Bench, DrillError, Outcome

BEHIND_SECONDS = 2.0


def quorum_lost(bench: Bench) -> Outcome:
    """Two disks are lost and the third is behind: back to what the survivor has, with the gap reported."""
    view = bench.look("main")
    left = next(member for member in view.members if not member.leader)
    others = [member.name for member in view.members if member.name != left.name]
    bench.mark.add(restore={"survivor": "newest"})
    # It stands still while the others go on: what they acknowledge meanwhile is what will be missing.
    bench.steps.sh(left.name, "stopping its process", "pkill -STOP -f 'etcd/[m]ain.json'")
    time.sleep(BEHIND_SECONDS)
    bench.writes(5)
    begun = time.monotonic()
    bench.lose(others, "main")
    bench.kill(left.name, "main")
    bench.tell(f"the disks of {' and '.join(others)} are empty; {left.name} is {BEHIND_SECONDS:.0f} s behind")
    done = restore(bench, None, "newest")
    if left.name not in done["source"]:
        raise DrillError(f"it was restored from {done['source']}, and only {left.name} has anything")
    return back(bench, done, begun, {"survivor": left.name, "dropped": done["dropped"]})


def restore(bench: Bench, source: str | None, survivor: str | None) -> Mapping[str, Any]:
    """As the command does it. Raises DrillError unless API servers were stopped before etcd was touched."""
    output = io.StringIO()
    console = Console(file=output, width=200)
    store = bench.session.bucket
    out = Output(console, console, as_json=False)
    before = servers(bench)
    try:
        done = restored(bench.session, store, "main", source, survivor, out, yes=True)
    finally:
        lines = output.getvalue().splitlines()
        for line in lines:
            bench.tell(line)
    stops = [line for line in lines if line.startswith("stopped: ")]
    if [line.split()[1] for line in stops] != ["API", "etcd"]:
        raise DrillError(f"API servers were not stopped first: {stops}")
    after = servers(bench)
    if same := [name for name, number in before.items() if number and after[name] == number]:
        raise DrillError(f"the API server of {' and '.join(same)} was not stopped: its process is the one of before")
    return done


def servers(bench: Bench) -> dict[str, str]:
    """Each API server's process id; empty where none runs."""
    machines = [machine.name for machine in bench.info.api]
    return side_by_side(lambda name: bench.steps.ask(name, "pgrep", "-x", "kube-apiserver").out.strip(), machines)


def back(bench: Bench, done: Mapping[str, Any], begun: float, facts: dict[str, Any]) -> Outcome:
    """What holds after each restore of main: all healthy, and scale-down frozen until it is released by hand."""
    bench.healthy("main")
    bench.writes(5)
    seconds = time.monotonic() - begun
    admin = bench.session.admin
    why = freeze.frozen(admin)
    if done["freeze_problem"] or not why or "restored" not in why["why"]:
        raise DrillError(f"scale-down is not frozen after the restore: {done['freeze_problem'] or why}")
    freeze.release(admin)
    if freeze.frozen(admin):
        raise DrillError("scale-down is frozen after its release")
    bench.mark.add(restore=None)
    bench.tell("scale-down was frozen, and is released by hand")
    return Outcome(seconds, {**facts, "frozen": why["why"]}, done["revision"], done["continues_at"])

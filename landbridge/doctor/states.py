"""Pulumi's state: stacks that failed, were interrupted, never came up, or are no longer in the fleet file."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from landbridge import places
from landbridge.engine import locks
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack_report import StackReport
from landbridge.places import Place
from landbridge.pool.listing import named
from landbridge.status.stacks import Looked, StackStatus
from landbridge.up import orphans
from landbridge.up.unchanged.record import file_of
from stacks.catalogue import PROJECT, catalogue

from .finding import Finding
from .subject import Patient

AREA = "state"
AT_ONCE = 8


def look(patient: Patient) -> Iterator[Finding]:
    world, place = patient.known
    names = [stack.name for stack in catalogue(world.fleet)]
    looked = Looked(names, place, PulumiCommand(places.pulumi_root()))
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda name: looked.tell(name, drift=False), names))
    for name, status in looked.stacks.items():
        if status.result == "failed" and settled(place, status):
            status.result = "succeeded"
        yield from of_stack(patient, status, looked.reports[name])
        yield from _abandoned(patient, place, name)
    yield from never_up(patient, [one for one in looked.stacks.values() if one.result == "never up"], len(names))
    yield from _nameless(patient)


def settled(place: Place, status: StackStatus) -> bool:
    """Whether a later run has found nothing to do, or done it: such a run is in no history."""
    record = file_of(place, status.stack)
    return status.at is not None and record.exists() and record.stat().st_mtime > status.at.timestamp()


def of_stack(patient: Patient, status: StackStatus, report: StackReport) -> Iterator[Finding]:
    up, name = patient.command(f"up {status.stack}"), status.stack
    if status.result == "not known":
        why = "; ".join(problem.message for problem in report.problems) or "it can't be read"
        yield Finding(AREA, "broken", f"stack {name}: {why}", f"{patient.command(f'status {name}')} asks again")
    elif status.held_by:
        return  # somebody is at it, so what is open is nobody's fault yet
    elif status.interrupted:
        many = "1 operation has" if status.interrupted == 1 else f"{status.interrupted} operations have"
        text = f"stack {name} was interrupted: {many} no end"
        yield Finding(AREA, "broken", text, f"{up} asks the cloud about that and goes on")
    elif status.result == "failed":
        text = f"stack {name}: its last {status.kind or 'update'} failed"
        # Without --full a stack is skipped whose inputs are those of an earlier success.
        again = patient.command(f"up --full {name}")
        yield Finding(AREA, "broken", text, f"{again} goes on, and says why where it can't")


def never_up(patient: Patient, lacking: list[StackStatus], of: int) -> Iterator[Finding]:
    if not lacking:
        return
    if len(lacking) == of:
        yield Finding(AREA, "soon", "nothing of this fleet is up yet", patient.command("up"))
        return
    names = [one.stack for one in lacking]
    yield Finding(
        AREA, "ailing", f"in the fleet file and not up: {named(names)}", patient.command(f"up {' '.join(names)}")
    )


def _abandoned(patient: Patient, place: Place, name: str) -> Iterator[Finding]:
    for lock in locks.locks(place.state_folder, PROJECT, name):
        if locks.stale(lock):
            text = f"stack {name} is locked by {lock}, and that process is gone"
            yield Finding(AREA, "soon", text, f"{patient.command(f'up {name}')} removes the lock")


def _nameless(patient: Patient) -> Iterator[Finding]:
    """Stacks that stand though the fleet file does not name them any more: nothing looks after them."""
    for name in orphans.of_fleet(*patient.known, PulumiCommand(places.pulumi_root())):
        text = f"stack {name} stands, and {patient.path.name} names it no more"
        yield Finding(AREA, "ailing", text, f"{patient.command(f'destroy {name}')}, if nobody needs it")

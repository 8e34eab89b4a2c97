"""A run goes to another cluster: it has ended in its own before it is queued there, so it never runs twice."""

from fleet.shares import serving_site
from landbridge.access.person import Person
from landbridge.errors import UsageError

from . import checks, look
from .again import from_record
from .ending import stop, until_gone
from .launching import queue
from .manifest import Launched
from .spec import Given, Run
from .states import RunState
from .store import Records


def move(source: Person, target: Person, name: str) -> Launched:
    """`source` and `target` are the same person's, in two clusters. Raises UsageError and LandbridgeError."""
    state, record = look.known(source, name), look.record(source, name)
    run = Run.model_validate(record["run"])
    _check_both(source, target, state)
    if state.phase in ("starts", "runs"):
        _check_checkpoints(source, target, name, run)
    checks.name(Given(run, "", {}), target, name)
    launched = from_record(target, record, name)
    records = Records(target)
    stop(source, name)
    until_gone(source, name)
    records.write_over(name, launched.record)
    queue(target, launched)
    return launched


def _check_both(source: Person, target: Person, state: RunState) -> None:
    if source.cluster == target.cluster:
        raise UsageError(f"{state.name} is in {source.cluster} already. Name the cluster that it should go to.")
    if state.ended or state.phase == "stopped":
        raise UsageError(
            f"{state.name} has ended, and there is nothing to move. "
            f"`landbridge runs again {state.name}{target.options}` runs it once more."
        )


def storage_of_shares(person: Person) -> str:
    """Clusters with the same one have the same files in their shares."""
    fleet = person.world.fleet
    return serving_site(fleet, person.cluster) or fleet.clusters[person.cluster].region


def _check_checkpoints(source: Person, target: Person, name: str, run: Run) -> None:
    anew = (
        f"To begin anew there: `landbridge stop {name}{source.options}`, then "
        f"`landbridge runs again {name}{target.options}`."
    )
    if run.checkpoints is None:
        raise UsageError(f"{name} runs and keeps no checkpoints, so a move would lose what it has done. {anew}")
    here, there = storage_of_shares(source), storage_of_shares(target)
    if here != there:
        raise UsageError(
            f"{name} runs, and its checkpoints would stay behind: shares of {source.cluster} lie in {here}, those of "
            f"{target.cluster} in {there}. {anew}"
        )

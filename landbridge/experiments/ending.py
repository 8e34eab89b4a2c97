"""Runs that are ended by people: all of one, hosts first."""

from landbridge.access.person import Person
from landbridge.errors import LandbridgeError
from landbridge.waiting import NotYet, until

from .look import pods
from .states import JOB_SETS

# Its hosts have a minute to write a checkpoint, and what ends them may be busy.
GONE_SECONDS = 300.0


def stop(person: Person, name: str) -> None:
    """Says it, and does not wait. Raises KubeError."""
    where = f"--namespace={person.namespace}"
    person.kube.done("delete", JOB_SETS, name, where, "--cascade=foreground", "--wait=false")


def until_gone(person: Person, name: str) -> None:
    """Raises LandbridgeError where some of it stays."""

    def gone() -> bool:
        if person.kube.find(JOB_SETS, name, f"--namespace={person.namespace}") is not None:
            raise NotYet("its JobSet is still there")
        if left := pods(person, name):
            raise NotYet(f"{len(left)} of its hosts are still there")
        return True

    until(gone, GONE_SECONDS, 1.0, lambda ails: _stays(person, name, ails))


def _stays(person: Person, name: str, ails: str) -> LandbridgeError:
    listed = f"`landbridge runs{person.options}`"
    return LandbridgeError(
        f"{name} was told to end in {person.cluster}, and has not: {ails}. It is queued nowhere else. When {listed} "
        f"shows it no more, `landbridge runs again {name}` with the other cluster queues it there."
    )

"""Plans as they stand in the cluster: read, made and changed, by whoever may."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fleet import maintenance
from fleet.maintenance import Plan
from landbridge.access.person import Person
from landbridge.cluster.kube import KubeError
from landbridge.errors import LandbridgeError, UsageError

RESOURCE = f"{maintenance.PLURAL}.{maintenance.GROUP}"
# The service writes how far each is, in between.
TRIES = 5
# What the API server says of a policy's words.
DENIED = re.compile(r"denied request: (?P<why>.+)$", re.DOTALL)
Json = dict[str, Any]
Operations = Sequence[Mapping[str, Any]]


class Item(NamedTuple):
    plan: Plan
    thing: Json

    @property
    def phase(self) -> str:
        if self.plan.cancelled:
            return "cancelled"
        return str((self.thing.get("status") or {}).get("phase") or "planned")

    @property
    def over(self) -> bool:
        """Nothing comes of it any more."""
        states = self.plan.nodes.values()
        return self.phase in ("done", "cancelled") and all(one.phase == "done" for one in states)


def item(thing: Json) -> Item:
    return Item(maintenance.read(thing), thing)


def everything(person: Person) -> list[Item]:
    """By their beginnings. Raises UsageError, KubeError."""
    try:
        found = person.kube.get(RESOURCE)["items"]
    except KubeError as error:
        raise _not_there(person, error) from None
    return sorted(map(item, found), key=lambda one: (one.plan.start, one.plan.name))


def one(person: Person, name: str) -> Item:
    """Raises UsageError, KubeError."""
    known = {found.plan.name: found for found in everything(person)}
    if name not in known:
        there = f"There are {', '.join(known)}" if known else "Nothing is planned"
        raise UsageError(f"{person.cluster} has no maintenance {name}. {there}: `landbridge maintenance`.")
    return known[name]


def seen(person: Person, what: str) -> tuple[list[Json], list[Json]]:
    """All nodes and all pods, for which one has to be an operator. Raises LandbridgeError."""
    try:
        return person.kube.get("nodes")["items"], person.kube.get("pods", "--all-namespaces")["items"]
    except KubeError as error:
        raise refused(person, error, what) from None


def make(person: Person, manifest: Json) -> None:
    """Raises LandbridgeError."""
    try:
        person.kube.done("create", "--filename=-", stdin=json.dumps(manifest))
    except KubeError as error:
        raise refused(person, error, "planned") from None


def change(person: Person, name: str, how: Callable[[Item], Operations], what: str) -> Item:
    """By what `how` makes of it as it is; anew when it has changed meanwhile. Raises UsageError, LandbridgeError."""
    for _ in range(TRIES):
        known = one(person, name)
        sure = {"op": "test", "path": "/metadata/resourceVersion", "value": known.plan.version}
        patch = json.dumps([sure, *how(known)])
        try:
            words = ("patch", RESOURCE, name, "--type=json", f"--patch={patch}", "--output=json")
            return item(json.loads(person.kube.done(*words)))
        except KubeError as error:
            if not {"test", "testing"} & {*error.result.err.split()} and "Conflict" not in error.result.err:
                raise refused(person, error, what) from None
    raise LandbridgeError(f"{name} changes faster than it can be {what}. Try it once more.")


def refused(person: Person, error: KubeError, what: str) -> LandbridgeError:
    if found := DENIED.search(error.result.err):
        return LandbridgeError(
            f"It is not {what}: {found['why'].strip()}. Operators of {person.cluster} may do it: ask "
            f"{person.world.fleet.owner}."
        )
    if error.forbidden:
        return LandbridgeError(f"It is not {what}: {person.name} may not. Operators of {person.cluster} may.")
    return error


def _not_there(person: Person, error: KubeError) -> LandbridgeError:
    if "doesn't have a resource type" not in error.result.err:
        return error
    return UsageError(
        f"{person.cluster} knows of no maintenance yet: `landbridge up{person.place.options}` brings its add-on."
    )

"""Stacks that stand though the fleet file names them no more: what they are is read from their states.

Pulumi destroys from the state alone, so that nobody has to write back what was taken out.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from pulumi.automation import CommandError

from fleet.world import World
from landbridge.clouds.leftovers import FLEET
from landbridge.cluster import rebuild_state
from landbridge.engine import failures
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.engine.stack_report import STACK_TYPE
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from stacks.catalogue import PROJECT, Kind, StackSpec, catalogue

from . import recovery

REFERENCE, PROVIDER, AZURE = "pulumi:pulumi:StackReference", "pulumi:providers:", "pulumi:providers:azure-native"
# The component that each kind of stack begins with. What has none was ended before that: a region, as it reads nobody.
KINDS: dict[str, Kind] = {
    "landbridge:links:Links": "links",
    "landbridge:links:AzureLinks": "links",
    "landbridge:control-plane:ControlPlane": "cluster",
    "landbridge:links:Laptops": "laptops",
    "landbridge:pools:Pool": "pool",
    "landbridge:pools:SitePool": "pool",
    "landbridge:addons:AddOns": "addons",
}


class Orphan(NamedTuple):
    """`subscription` is where a stack in Azure stands; empty elsewhere."""

    spec: StackSpec
    subscription: str = ""


def orphans(place: Place, fleet: str, named: Collection[str], command: PulumiCommand) -> dict[str, Orphan]:
    """By name, those of the fleet that hold anything. `named` are the stacks that its file knows.

    Raises LandbridgeError where the backend can't be asked.
    """
    found = {}
    try:
        for name in sorted(set(every(place, command)) - set(named)):
            state = StackEngine(name, place, command).state() or {}
            if recovery.resources(state) and is_of(fleet, state):
                found[name] = orphan(name, state)
    except CommandError as error:
        why = failures.last_error(str(error))
        raise LandbridgeError(
            f"Pulumi's state can't be listed: {why}. Does {place.backend} exist, and may you read it?"
        ) from None
    return found


def of_fleet(world: World, place: Place, command: PulumiCommand) -> dict[str, Orphan]:
    """Those that neither the fleet file nor a rebuild knows. Raises LandbridgeError."""
    known = (*catalogue(world.fleet), *rebuild_state.of_fleet(world))
    return orphans(place, world.fleet.fleet, [stack.name for stack in known], command)


def is_of(fleet: str, state: Mapping[str, Any]) -> bool:
    """By the tags of what it holds: another fleet may keep its state in the same backend, and has its own stacks."""
    tags = ((one.get("inputs") or {}).get("tags") for one in state.get("resources") or ())
    return {tag[FLEET] for tag in tags if isinstance(tag, Mapping) and FLEET in tag} == {fleet}


def every(place: Place, command: PulumiCommand) -> list[str]:
    """Names of all stacks of the project in the backend, other fleets' as well."""
    if place.state_folder is not None:
        return [file.stem for file in (place.state_folder / "stacks" / PROJECT).glob("*.json")]
    words = ["stack", "ls", "--json", *(["--organization", place.organization] if place.organization else ())]
    listed = command.run(words, str(place.project), place.environment).stdout
    return [stack["name"].rpartition("/")[2] for stack in json.loads(listed)]


def orphan(name: str, state: Mapping[str, Any]) -> Orphan:
    """What a stack is, as its state tells."""
    resources = state.get("resources") or ()
    kind: Kind = next((KINDS[one["type"]] for one in resources if one["type"] in KINDS), "region")
    below = read_by(name, state)
    region = next(_regions(name, kind, resources), below[0] if below else name)
    azures = (one.get("inputs") or {} for one in resources if one["type"] == AZURE)
    subscription = next((str(inputs["subscriptionId"]) for inputs in azures if inputs.get("subscriptionId")), "")
    return Orphan(StackSpec(name, kind, region, below), subscription)


def read_by(name: str, state: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The other stacks that it has read from when it was last built."""
    resources = (state or {}).get("resources") or ()
    ids = (str(one["id"]).rpartition("/")[2] for one in resources if one["type"] == REFERENCE)
    return tuple(dict.fromkeys(other for other in ids if other != name))


def as_built(spec: StackSpec, state: Mapping[str, Any] | None) -> StackSpec:
    """With what it stands on since it was last built, beside what the fleet file says now."""
    return spec._replace(depends_on=tuple(dict.fromkeys((*spec.depends_on, *read_by(spec.name, state)))))


def _regions(name: str, kind: Kind, resources: Collection[Mapping[str, Any]]) -> Iterator[str]:
    """Where it says that it stands, surest first."""
    if kind == "region":
        yield name
    outputs = (one.get("outputs") or {} for one in resources if one["type"] == STACK_TYPE)
    yield from (str(values["region"]) for values in outputs if values.get("region"))
    providers = (one.get("inputs") or {} for one in resources if one["type"].startswith(PROVIDER))
    yield from (str(values[where]) for values in providers for where in ("region", "location") if values.get(where))


def notice(found: Collection[str], file: str, options: str) -> list[str]:
    """What `up` and `preview` say about them; `options` end a command as it would be typed here."""
    return [
        f"{name} stands, and {file} names it no more: `landbridge destroy {name}{options}` takes it down."
        for name in found
    ]

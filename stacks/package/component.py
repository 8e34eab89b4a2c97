"""What the package's components have in common: a fleet file's entry, built as the stack of its name builds it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import pulumi
from pulumi.provider.experimental.util import camel_case
from pulumi.runtime import settings

from fleet.errors import FleetError
from fleet.world import World, current

from .. import handed
from ..catalogue import PROJECT, Kind, StackSpec, catalogue, no_stack
from .below import Below
from .values import handed_part

Build = Callable[[World, StackSpec], Awaitable[Mapping[str, Any]]]


# Outputs of stacks or of components, by name of the stack.
Stacks = pulumi.Input[dict[str, pulumi.Input[dict[str, Any]]]]


class Given(NamedTuple):
    """What a component builds: the fleet's stack `stack`, with what `stacks` has in place of other stacks' outputs."""

    fleet: Any
    stacks: Stacks
    kind: Kind
    stack: str
    build: Build


class Component(pulumi.ComponentResource):
    """Its annotations are its outputs: fields of `contracts`, of which its stack publishes one.

    `on` says in words what it builds on.
    """

    outputs: pulumi.Output[dict[str, Any]]
    # Without annotations: these are no outputs.
    contracts, on = list[type](), ""

    def __init_subclass__(cls, *, contracts: list[type], on: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.contracts, cls.on = contracts, on

    def __init__(self, name: str, given: Given, opts: pulumi.ResourceOptions | None) -> None:
        super().__init__(f"landbridge:index:{type(self).__name__}", name, None, opts)
        built = asyncio.ensure_future(_built(self, name, given))
        registered = {field: _part(built, field) for field in type(self).__annotations__}
        registered["outputs"] = pulumi.Output.from_input(cast(Any, built))
        for field, value in registered.items():
            setattr(self, field, value)
        # By the schema's names: the state has what programs see.
        self.register_outputs({camel_case(field): value for field, value in registered.items()})


def _part(built: Awaitable[Mapping[str, Any]], field: str) -> pulumi.Output[Any]:
    """Known as soon as this one is: a preview knows much of what is in a map with something unknown."""

    async def part() -> Any:
        return (await built).get(field)

    return pulumi.Output.from_input(part())


async def _built(component: pulumi.ComponentResource, name: str, given: Given) -> Mapping[str, Any]:
    world = _world(given.fleet)
    told = pulumi.Output.from_input(cast(Any, given.stacks))
    after = [await one.urn.future() for one in await told.resources()]
    urn = await component.urn.future()
    engine = Below(settings.get_monitor(), name, str(urn), [one for one in after if one])
    settings.SETTINGS.monitor = cast(Any, engine)
    outputs = handed_part(await told.future(with_unknowns=True))
    handed.here.set(handed.Handed(outputs, name))
    try:
        return await given.build(world, _entry(world, given.kind, given.stack))
    except (FleetError, pulumi.RunError) as error:
        raise pulumi.InputPropertyError("fleet", str(error)) from None


def _world(fleet: Any) -> World:
    if pulumi.get_project() == PROJECT:
        why = f"is built by stacks of the project {PROJECT}, and this program would be taken for one of them"
        raise pulumi.InputPropertyError("fleet", f"{why}: give the project in Pulumi.yaml another name")
    if not isinstance(fleet, str):
        why = "is known only once others are built. Addresses are planned before anything is: name a file"
        raise pulumi.InputPropertyError("fleet", why)
    if not Path(fleet).is_file():
        raise pulumi.InputPropertyError("fleet", f"there is no file {Path(fleet).absolute()}")
    try:
        return current(Path(fleet))
    except FleetError as error:
        raise pulumi.InputPropertyError("fleet", str(error)) from None


def _entry(world: World, kind: Kind, name: str) -> StackSpec:
    found = {stack.name: stack for stack in catalogue(world.fleet)}
    if name not in found:
        raise pulumi.RunError(no_stack(world.fleet, world.path.name, name))
    if found[name].kind != kind:
        raise pulumi.RunError(
            f"{world.path.name}: {name} is a stack of kind {found[name].kind}, and not of kind {kind}"
        )
    return found[name]

"""Which stacks a fleet has, and which must come before which."""

from typing import Literal, NamedTuple

from fleet.model import Fleet

PROJECT = "landbridge"
Kind = Literal["region"]


class StackSpec(NamedTuple):
    """One stack. `depends_on` are names of stacks whose outputs it reads."""

    name: str
    kind: Kind
    region: str
    depends_on: tuple[str, ...] = ()


def catalogue(fleet: Fleet) -> list[StackSpec]:
    """Every stack that can be built, in the order of the file; `unbuilt` names what is left out."""
    return [StackSpec(name, "region", name) for name, region in fleet.regions.items() if region.cloud == "aws"]


def no_stack(fleet: Fleet, file: str, name: str) -> str:
    """Why there is no stack of this name, for the user."""
    stacks = ", ".join(stack.name for stack in catalogue(fleet)) or "none"
    if name in fleet.regions:
        return f"{file}: region {name} has no stack: {fleet.regions[name].cloud} is not built yet. Stacks: {stacks}."
    return f"{file} has no stack {name}. Its stacks: {stacks}."


def unbuilt(fleet: Fleet) -> list[str]:
    """Entries of the fleet file that no stack builds yet, in words for the user."""
    azure = [name for name, region in fleet.regions.items() if region.cloud != "aws"]
    found = [f"region {name}: Azure is not built yet" for name in azure]
    for kind, names in (("cluster", fleet.clusters), ("pool", fleet.pools), ("site", fleet.sites)):
        if names:
            found.append(f"{kind}s ({', '.join(names)}) are planned, not built yet")
    return found

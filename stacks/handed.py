"""What a builder of a stack reads where it runs in a program that is no stack of the fleet's: see stacks/package/."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Handed:
    """`outputs` are those of stacks, by name, that need no StackReference; what a preview doesn't know is not in them.

    None where a preview does not know yet which they are. `exported` is the name by which the program exports
    what is built.
    """

    outputs: Mapping[str, Mapping[str, Any]] | None
    exported: str


here: ContextVar[Handed | None] = ContextVar("handed", default=None)

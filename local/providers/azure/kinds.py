"""The words in which the tables of Azure's resources are written. `engine` acts on them."""

import re
from dataclasses import dataclass

GROUP = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"


@dataclass(frozen=True)
class Kind:
    """One resource type.

    path: its id, with the SDK's names of the properties that stand in it.
    model: of what a PUT takes, below azure.mgmt; None: no installed package has one, and ARM's envelope tells places.
    answer: of what a GET answers, where that is another one.
    replace: properties that make another resource of it, beside those in the path and what the model knows as such.
    subresources: properties that list resources of other types; left alone, as they are, while the program does not
        set them.
    query: properties that go into a PUT's query.
    singleton: it comes and goes with its parent; a delete only puts this body.
    """

    path: str
    model: str | None
    answer: str | None = None
    replace: frozenset[str] = frozenset()
    subresources: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    singleton: bool = False

    @property
    def in_path(self) -> tuple[str, ...]:
        """The properties in the path, as they come, without the subscription."""
        return tuple(name for name in re.findall(r"{(\w+)}", self.path) if name != "subscriptionId")

    @property
    def named(self) -> str:
        """The property that is the resource's own name; empty for what has a fixed one."""
        return self.in_path[-1] if self.path.endswith("}") else ""


def within(namespace: str, rest: str) -> str:
    """Path of what stands in a resource group: ("Microsoft.Network", "routeTables/{routeTableName}")."""
    return f"{GROUP}/providers/{namespace}/{rest}"

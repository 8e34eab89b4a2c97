"""The package as other languages see it: Pulumi's analysis has names and types, and here is what each of them is.

Outputs are described where stacks agree on them, by the comments in stacks/outputs.py.
"""

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.experimental.util import camel_case

from .component import Component
from .kinds import COMPONENTS

NAME = "landbridge"
FIELD = re.compile(r"^    (\w+): [^#\n]*# (.+)$", re.MULTILINE)
FLEET = "path of the fleet file; its ledger lies beside it; a relative one starts at the program's folder"
STACKS = "outputs of what it builds on, by name: {on}; those that are not here are read by StackReference"
OUTPUTS = "all that its stack would publish, under the same names: what `stacks` of other components take"
ENTRY = "its name in the fleet file"


class Package(ComponentProvider):
    """Serves the components, and describes them."""

    def __init__(self, version: str) -> None:
        super().__init__(list(COMPONENTS), NAME, None, version)
        schema = json.loads(self.schema or "")
        for component in COMPONENTS:
            describe(schema["resources"][f"{NAME}:index:{component.__name__}"], component)
        self.schema = json.dumps(schema)


def describe(resource: dict[str, Any], component: type[Component]) -> None:
    """Every argument and output in the schema of a component. Raises KeyError for one that nothing describes."""
    for name, one in resource["inputProperties"].items():
        one["description"] = {"fleet": FLEET, "stacks": STACKS.format(on=component.on)}.get(name, ENTRY)
    of = {camel_case(name): text for name, text in outputs(component).items()}
    for name, one in resource["properties"].items():
        one["description"] = of[name]


def outputs(component: type[Component]) -> Mapping[str, str]:
    """What the contract says of each output; of two contracts the first that says something."""
    found = {"outputs": OUTPUTS}
    for contract in component.contracts:
        found = {**dict(FIELD.findall(inspect.getsource(contract))), **found}
    return found

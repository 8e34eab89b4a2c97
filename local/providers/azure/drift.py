"""What changed in Azure, laid over what a program asked for.

As the real provider does it (its pkg/provider/provider.go, Read): what Azure answered when the resource was written
is compared with what it answers now, and only the difference goes into the inputs. So neither a default that Azure
fills in nor its own spelling of a value is drift, and a change of what the program never set is.
"""

from collections.abc import Iterable
from typing import Any

from ..codec import Properties
from ..compare import same


def drifted(inputs: Properties, before: Properties, now: Properties) -> Properties:
    """`inputs` with the differences between two answers, both as a program could say them."""
    found = dict(inputs)
    for name in sorted(before.keys() | now.keys()):
        old, new, wanted = before.get(name), now.get(name), inputs.get(name)
        if same(old, new):
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            found[name] = drifted(wanted if isinstance(wanted, dict) else {}, old, new)
        elif new is None:
            found.pop(name, None)
        else:
            found[name] = new
    return found


def without(values: Properties, path: Iterable[str]) -> Properties:
    """The same without what stands at the path."""
    first, *rest = path
    if first not in values:
        return values
    left = {name: value for name, value in values.items() if name != first}
    inner: Any = values[first]
    return left if not rest or not isinstance(inner, dict) else {**left, first: without(inner, rest)}


def has(values: Properties, path: Iterable[str]) -> bool:
    inner: Any = values
    for name in path:
        if not isinstance(inner, dict) or inner.get(name) is None:
            return False
        inner = inner[name]
    return True

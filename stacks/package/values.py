"""Values that came by an engine: some of a map may not be known yet."""

from collections.abc import Mapping
from typing import Any

from pulumi.output import Unknown


def known_part(value: Any) -> Any:
    """The value without entries of maps that are unknown; None for one that is unknown itself, or has such an item."""
    if isinstance(value, dict):
        parts = {key: known_part(one) for key, one in value.items()}
        return {key: one for key, one in parts.items() if one is not None}
    if isinstance(value, list):
        items = [known_part(one) for one in value]
        return None if None in items else items
    return None if isinstance(value, Unknown) else value


def handed_part(stacks: Any) -> Mapping[str, Mapping[str, Any]] | None:
    """Of outputs by stack: a stack of which nothing is known is still one that was handed over. None for no names."""
    if not isinstance(stacks, dict):
        return None
    return {name: known_part(outputs) or {} for name, outputs in stacks.items()}

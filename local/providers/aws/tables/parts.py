"""Nested objects, from the provider's spelling to the API's and back, by a table of their parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...servicer import ProviderError


class Part(NamedTuple):
    """How the API calls a part. The provider writes a `flag` as text, which the API wants as a boolean."""

    name: str
    flag: bool = False
    parts: "Parts | None" = None


Parts = Mapping[str, Part]


def plain(*names: str) -> dict[str, Part]:
    """httpTokens → HttpTokens."""
    return {name: Part(name[0].upper() + name[1:]) for name in names}


def flags(*names: str) -> dict[str, Part]:
    return {name: Part(name[0].upper() + name[1:], flag=True) for name in names}


@dataclass(frozen=True)
class Given:
    """Converts to what the API takes; a part that the table does not have is an error, never left out quietly."""

    parts: Parts

    def __call__(self, value: Any) -> Any:
        """Raises ProviderError."""
        if isinstance(value, list):
            return [self(item) for item in value]
        if strange := sorted(value.keys() - self.parts.keys()):
            raise ProviderError(f"the local cloud does not act on {', '.join(strange)} yet")
        return {
            self.parts[name].name: _given(self.parts[name], item) for name, item in value.items() if item is not None
        }


def found(parts: Parts, value: Any) -> Any:
    """As the provider writes it; what the table does not have is the cloud's own business."""
    if isinstance(value, list):
        return [found(parts, item) for item in value]
    if value is None:
        return None
    return {name: _found(part, value[part.name]) for name, part in parts.items() if value.get(part.name) is not None}


def _given(part: Part, value: Any) -> Any:
    if part.parts is not None:
        return Given(part.parts)(value)
    return value == "true" if part.flag else value


def _found(part: Part, value: Any) -> Any:
    if part.parts is not None:
        return found(part.parts, value)
    return str(value).lower() if part.flag else value

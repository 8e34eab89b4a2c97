"""Plugins whose resources are values and nothing else: made once, kept in state, replaced when an input changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .codec import Properties
from .servicer import ProviderError


@dataclass(frozen=True)
class Value:
    """`make` gives the id and the outputs for inputs; `defaults` are what the real provider assumes."""

    make: Callable[[Properties], tuple[str, Properties]]
    defaults: Mapping[str, Any]
    updatable: frozenset[str] = frozenset()  # inputs that change without a new value
    stale: Callable[[Properties], bool] | None = None  # whether the recorded value is due for renewal


class Values:
    """A backend over a table of values."""

    package = ""
    table: ClassVar[Mapping[str, Value]] = {}

    def configure(self, config: Mapping[str, Any]) -> None:
        if strange := sorted(config.keys() - {"version"}):
            raise ProviderError(f"the local cloud does not know the setting {', '.join(strange)}: leave it out")

    def _value(self, token: str) -> Value:
        if token not in self.table:
            raise ProviderError(f"the local cloud can't make {token} yet")
        return self.table[token]

    def check(self, token: str, name: str, olds: Properties, news: Properties, seed: bytes) -> Properties:  # noqa: ARG002
        return {**self._value(token).defaults, **news}

    def replaces(self, token: str) -> frozenset[str]:
        from .sdk_types import input_type

        return frozenset(input_type(token).properties) - self._value(token).updatable

    def delete_first(self, token: str) -> bool:  # noqa: ARG002
        return False

    def create(self, token: str, inputs: Properties) -> tuple[str, Properties]:
        id_, outputs = self._value(token).make(inputs)
        return id_, {**inputs, **outputs}

    def read(self, token: str, id_: str, inputs: Properties, state: Properties) -> tuple[Properties, Properties] | None:  # noqa: ARG002
        if not state:
            raise ProviderError("a value can't be imported: it exists nowhere but in state")
        stale = self._value(token).stale
        # Gone, as the real provider has it: the next update then makes a new one.
        return None if stale and stale(state) else (inputs, state)

    def update(self, token: str, id_: str, olds: Properties, news: Properties, state: Properties) -> Properties:  # noqa: ARG002
        return {**state, **news}

    def delete(self, token: str, id_: str, state: Properties) -> None:
        """Nothing is kept anywhere."""

    def invoke(self, token: str, arguments: Properties) -> Properties:  # noqa: ARG002
        raise ProviderError(f"the local cloud can't answer {token} yet")

"""The engine as builders of stacks see it inside a component: what they make is the component's and bears its name.

A stack is one program, so its resources have fixed names and no parent. A program may have many components: without
the component's name before theirs the second pool of a program would be a second resource of the same name.
"""

from collections.abc import Sequence
from typing import Any


class Below:
    """Everything else the engine is asked goes to it as it is."""

    def __init__(self, engine: Any, name: str, urn: str, after: Sequence[str]) -> None:
        """`name` and `urn` are the component's; `after` are URNs of what its inputs came from: that goes last."""
        self._engine, self._name, self._urn, self._after = engine, name, urn, list(after)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 (the protocol's name)
        """Answers as the engine does."""
        return self._engine.RegisterResource(self._placed(request))

    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        """Answers as the engine does."""
        return self._engine.ReadResource(self._placed(request))

    def _placed(self, request: Any) -> Any:
        request.name = f"{self._name}-{request.name}"
        request.parent = request.parent or self._urn
        request.dependencies.extend(urn for urn in self._after if urn not in request.dependencies)
        return request

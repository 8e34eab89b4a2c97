"""What the machines service and the local AWS tell each other: that something has changed, and what has come of it.

The service asks `world` for all it has to keep, and waits here until that may have changed, so that an idle cloud does
nothing. While nobody keeps machines (`kept` is False) instances are records only, as moto has them.
"""

from collections.abc import Callable
from typing import Any

from local.changes import await_change as await_change
from local.changes import changed as changed

kept = False


def keep() -> None:
    """From now on somebody makes machines of instances."""
    global kept
    kept = True


class Later:
    """Calls that wait until the machines service has done its part; each is made once.

    What waits is words, which can be kept: whose call it is, and what with. `made` makes it.
    """

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[Any, ...]] = {}
        self.made: Callable[..., Any] = lambda *_: None

    def put(self, name: str, *words: Any) -> None:
        self.waiting.setdefault(name, words)

    def __contains__(self, name: str) -> bool:
        return name in self.waiting

    def do(self, name: str) -> bool:
        words = self.waiting.pop(name, None)
        if words is not None:
            self.made(name, *words)
        return words is not None


# By instance: its end. By volume: its detachment.
endings, detachments = Later(), Later()
# Volumes whose detachment does not wait for the machine.
forced: set[str] = set()
# Instances whose machine died by itself, with the reason.
impaired: dict[str, str] = {}
# By target group and target: (state, reason, description), as DescribeTargetHealth has them.
health: dict[str, dict[str, tuple[str, str | None, str | None]]] = {}

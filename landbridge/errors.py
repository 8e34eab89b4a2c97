"""What ends a command early: one text for the user, and an exit code.

Exit codes: 0 done · 1 a stack failed, or a ledger is stale (`plan --check`) · 2 wrong usage, fleet file or set-up ·
3 `--expect-no-changes` saw changes · 4 a consent is missing · 130 interrupted.
"""

from collections.abc import Mapping
from typing import Any

DONE, FAILED, USAGE, CHANGED, NO_CONSENT, INTERRUPTED = 0, 1, 2, 3, 4, 130


class LandbridgeError(Exception):
    """A mistake or mishap told in full by its text: what, where, what to do. Machines read `document` beside it."""

    def __init__(self, text: str, code: int = FAILED) -> None:
        super().__init__(text)
        self.code = code
        self.document: Mapping[str, Any] = {}


class UsageError(LandbridgeError):
    """The command line, the fleet file or the machine's set-up is wrong; nothing was begun."""

    def __init__(self, text: str) -> None:
        super().__init__(text, USAGE)


class ConsentError(LandbridgeError):
    """The run would do more than was agreed to; nothing was changed."""

    def __init__(self, text: str) -> None:
        super().__init__(text, NO_CONSENT)

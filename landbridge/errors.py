"""What ends a command early: one text for the user, and an exit code."""

from collections.abc import Mapping
from typing import Any

DONE, FAILED, USAGE, CHANGED, NO_CONSENT, INTERRUPTED = 0, 1, 2, 3, 4, 130
# Of every command; `kubectl`, `exec`, `run` and `local exec` end with the code of the program that they run.
EXIT_CODES = {
    DONE: "done",
    FAILED: "something failed, or is not as it should be",
    USAGE: "wrong usage, fleet file or set-up: nothing was begun",
    CHANGED: "--expect-no-changes saw changes",
    NO_CONSENT: "a consent is missing: nothing was changed",
    INTERRUPTED: "interrupted",
}


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

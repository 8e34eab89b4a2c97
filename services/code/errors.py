"""What stands in the way of a fetch, and what an answer is."""

from typing import Protocol


class FetchError(Exception):
    """Why there is no code. One line, for people."""


class AwayError(FetchError):
    """The store does not answer, or has too much to do. It may later."""


class BrokenError(AwayError):
    """An answer that ended early. Another try may do."""


class AbsentError(Exception):
    """The store has no object of that name."""


class RefusedError(Exception):
    """The store has it, or does not say so, and it is not for this pod. `str` is what the pod lacks."""


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def may_pass(status: int | None) -> bool:
    """Whether a store that answers so may answer otherwise later: it fails, is asked too often, or is away."""
    return status is None or status == 429 or 500 <= status < 600

"""Calls to clouds, counted by how they went, and their failures in our words."""

import contextlib
from collections.abc import Callable, Iterator

from . import metrics
from .cloud import CloudError

# What came of a call, with one word for who counts.
CallFailure = tuple[CloudError, str]
UNREACHABLE = "unreachable"


@contextlib.contextmanager
def counted(region: str, operation: str, problem: Callable[[Exception], CallFailure | None]) -> Iterator[None]:
    """Raises CloudError: what `problem` makes of a failure, or of one that it does not know the failure's own words."""
    try:
        yield
    except Exception as error:
        known = problem(error)
        # Such as an answer that can't be read, or a token's file that is not there.
        kind = type(error).__name__
        failure, how = known or (CloudError(f"{region}: {operation}: {kind}: {error}"), kind)
        metrics.calls.labels(region, operation, how).inc()
        raise failure from None if known else error
    metrics.calls.labels(region, operation, "ok").inc()

"""Waits until a run's hosts are all there: no rank begins before every other one has an address."""

import socket
import time
from collections.abc import Callable, Sequence

from .source import FetchError

PAUSE_SECONDS = 0.5


def known(name: str) -> bool:
    try:
        return bool(socket.getaddrinfo(name, None))
    except OSError:
        return False


def wait(names: Sequence[str], seconds: float, is_known: Callable[[str], bool] = known) -> None:
    """A headless service names hosts as soon as they have an address. Raises FetchError when some have none in time."""
    deadline, missing = time.monotonic() + seconds, list(names)
    while missing := [name for name in missing if not is_known(name)]:
        if time.monotonic() > deadline:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise FetchError(f"{missing[0]}{more} of {len(names)} hosts have no address after {seconds:.0f} seconds")
        time.sleep(PAUSE_SECONDS)

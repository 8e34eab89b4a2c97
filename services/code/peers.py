"""Waits until a run's hosts are all there: no rank begins before every other one has had an address."""

import socket
import threading
import time
from collections.abc import Callable, Sequence

from .errors import FetchError

PAUSE_SECONDS = 0.2
# The last one to come is seen by those that look again: who ends at once takes its name away with it.
HOLD_SECONDS = 1.0


def known(name: str) -> bool:
    try:
        return bool(socket.getaddrinfo(name, None))
    except OSError:
        return False


class Peers:
    """Looks for hosts from the beginning on, beside other work: one that was seen counts, though it may have ended.

    A headless service names a host from its address to its end.
    """

    def __init__(self, names: Sequence[str], is_known: Callable[[str], bool] = known) -> None:
        self.names, self.is_known = names, is_known
        self.missing = [*names]
        self.all = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while self.missing:
            self.missing = [name for name in self.missing if not self.is_known(name)]
            time.sleep(PAUSE_SECONDS if self.missing else 0)
        self.all.set()

    def wait(self, seconds: float) -> None:
        """Raises FetchError when some have not come in time."""
        if not self.all.wait(seconds):
            missing = self.missing
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise FetchError(
                f"{missing[0]}{more} of {len(self.names)} hosts have no address after {seconds:.0f} seconds"
            )
        if len(self.names) > 1:
            time.sleep(HOLD_SECONDS)

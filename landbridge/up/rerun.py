"""A stack whose run a part of the local cloud broke by dying: once the part is back, the stack runs once more."""

import threading
import time
from collections.abc import Callable

from landbridge.places import Place
from local import client, processes

# A part that has died is noticed by the daemon at once, or by whoever spoke with it a moment before that.
NOTICE_SECONDS, READY_SECONDS, LOOK_SECONDS = 3.0, 90.0, 0.1
# So often a stack begins again in one run.
TIMES = 3
NOTE = "the {part} of the local cloud died meanwhile and was started again: the stack goes on where it was."


class Again:
    """Of one run over the stacks of a fleet; on real clouds nothing is ever tried again."""

    def __init__(self, place: Place, stop: threading.Event) -> None:
        self.home = place.cloud and place.cloud.home
        self.cloud, self.stop = place.cloud, stop

    def through(self, name: str, work: Callable[[str], None], resume: Callable[[str, str], None]) -> None:
        """Does `work` on a stack. Where that fails since a part died, waits for it, has `resume` told why, and does it
        once more. Raises what `work` raises.
        """
        for _ in range(TIMES - 1):
            before = self.alive()
            try:
                return work(name)
            except Exception:
                part = None if self.stop.is_set() or self.home is None else self.restarted(before)
                if part is None or not self.up_again():
                    raise
            resume(name, NOTE.format(part=part))
        return work(name)

    def starts(self) -> dict[str, int]:
        """How often each part was started."""
        return {name: one["starts"] for name, one in processes.recorded(self.home).items()} if self.home else {}

    def alive(self) -> dict[str, int]:
        """The same of those that answer: one that is still coming up may be what breaks the work that begins now."""
        answering = {part.name for part in processes.PARTS if self.home and processes.answers(part.port)}
        return {name: n for name, n in self.starts().items() if name in answering}

    def restarted(self, before: dict[str, int]) -> str | None:
        """Which part was started since; waits a moment for one that has just died."""
        deadline = time.monotonic() + NOTICE_SECONDS
        while True:
            if found := next((name for name, n in self.starts().items() if n != before.get(name)), None):
                return found
            if all(processes.answers(part.port) for part in processes.PARTS) or time.monotonic() > deadline:
                return None
            time.sleep(LOOK_SECONDS)

    def up_again(self) -> bool:
        """Whether all parts answer, within a while."""
        deadline = time.monotonic() + READY_SECONDS
        while self.cloud and client.status(self.cloud.home) == self.cloud and time.monotonic() < deadline:
            if all(processes.answers(part.port) for part in processes.PARTS):
                return True
            time.sleep(LOOK_SECONDS)
        return False

"""Tells what is being done and for how long: a living line on a terminal, plain lines elsewhere."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

PLAIN_EVERY_SECONDS = 15.0
LIVE_EVERY_SECONDS = 0.5


class Progress:
    """`step` wraps each piece of work; `reused` tells of work that was not needed."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self.started = time.monotonic()

    def say(self, text: str) -> None:
        print(text, flush=True)

    def reused(self, what: str) -> None:
        self.say(f"  ✓ {what}: as it was")

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        started, done = time.monotonic(), threading.Event()
        if not self.live:
            self.say(f"  … {what}")
        ticker = threading.Thread(target=self._tick, args=(what, started, done), daemon=True)
        ticker.start()
        worked = False
        try:
            yield
            worked = True
        finally:
            done.set()
            ticker.join()
            mark = "✓" if worked else "✗"
            self.say(f"{self._clear()}  {mark} {what}: {_elapsed(started)}")

    def total(self) -> str:
        return _elapsed(self.started)

    def _tick(self, what: str, started: float, done: threading.Event) -> None:
        while not done.wait(LIVE_EVERY_SECONDS if self.live else PLAIN_EVERY_SECONDS):
            if self.live:
                print(f"{self._clear()}  … {what}: {_elapsed(started)}", end="", flush=True)
            else:
                self.say(f"    {what}: {_elapsed(started)} so far")

    def _clear(self) -> str:
        return "\r\x1b[2K" if self.live else ""


def _elapsed(since: float) -> str:
    minutes, seconds = divmod(time.monotonic() - since, 60)
    return f"{minutes:.0f} min {seconds:02.0f} s" if minutes else f"{seconds:.1f} s"

"""Tells what is being done and for how long: a living line on a terminal, plain lines elsewhere."""

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator

import estimate

PLAIN_EVERY_SECONDS = 15.0
LIVE_EVERY_SECONDS = 0.5


class Progress:
    """`step` wraps each piece of work; `reused` tells of work that was not needed."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty()
        self.started = time.monotonic()
        self.way: estimate.Way | None = None
        self.now = ""

    def say(self, text: str) -> None:
        try:
            print(text, flush=True)
        except BrokenPipeError:  # Ctrl-C has ended the reader as well
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def expect(self, steps: list[str]) -> None:
        """All steps that there will be, in their order; of none at all, what is reused is not worth a word either."""
        self.way = estimate.Way(steps)

    def reused(self, what: str) -> None:
        if self.way is None or self.way.steps:
            self.say(f"  ✓ {what}: as it was")

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        started, done = time.monotonic(), threading.Event()
        self.now = self._place(what)
        if not self.live:
            self.say(f"  … {what}{self.now and f' ({self.now})'}")
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
        self.now = ""
        if self.way:
            self.way.done(what, time.monotonic() - started)

    def total(self) -> str:
        return _elapsed(self.started)

    def _tick(self, what: str, started: float, done: threading.Event) -> None:
        while not done.wait(LIVE_EVERY_SECONDS if self.live else PLAIN_EVERY_SECONDS):
            far = "".join(f" · {part}" for part in self._far(what, time.monotonic() - started))
            if self.live:
                # One that is broken into two can't be cleared.
                line = f"  … {what}: {_elapsed(started)}{far}"[: shutil.get_terminal_size().columns - 1]
                print(f"{self._clear()}{line}", end="", flush=True)
            else:
                self.say(f"    {what}: {_elapsed(started)} so far{far}")

    def _far(self, what: str, seconds: float) -> list[str]:
        """How far it is over all steps."""
        if self.way is None or not self.now:
            return []
        return [self.now, estimate.left(self.way.remaining(what, seconds))]

    def _place(self, what: str) -> str:
        return self.way.place(what) if self.way and what in self.way.steps else ""

    def _clear(self) -> str:
        return "\r\x1b[2K" if self.live else ""


def _elapsed(since: float) -> str:
    minutes, seconds = divmod(time.monotonic() - since, 60)
    return f"{minutes:.0f} min {seconds:02.0f} s" if minutes else f"{seconds:.1f} s"

"""The machine's driver, through NVML: opened when it is there, and asked again as long as it is not."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pynvml

from .gpu import Gpu, Told

# A driver that hangs keeps whoever asks it: others are told so, and wait no longer.
PATIENCE_SECONDS = 5.0
HANGS = f"NVML has not answered for {PATIENCE_SECONDS:.0f} s"


class Seen(NamedTuple):
    """`why` says why NVML doesn't answer; it is empty where it does."""

    version: str
    gpus: Sequence[Told]
    why: str = ""


class Driver:
    """One thread at a time asks. `say` hears of each change."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say, self.lock = say, threading.Lock()
        self.gpus: list[Gpu] | None = None
        self.version, self.said = "", dict[str, str]()

    def look(self) -> Seen:
        if self.lock.acquire(timeout=PATIENCE_SECONDS):
            try:
                seen = self._look()
            finally:
                self.lock.release()
        else:
            seen = Seen("", (), HANGS)
        for name, why in {"driver": seen.why, **{f"GPU {one.labels['gpu']}": one.why for one in seen.gpus}}.items():
            if why != self.said.get(name, ""):
                self.say(f"{name}: {why or 'it answers again'}")
            self.said[name] = why
        return seen

    def _look(self) -> Seen:
        try:
            gpus = self.opened()
            # Of a driver that has gone no GPU would say so.
            if (count := pynvml.nvmlDeviceGetCount()) != len(gpus):
                self.say(f"there are {count} GPUs now, and there were {len(gpus)}")
                self.close()
                gpus = self.opened()
        except pynvml.NVMLError as error:
            self.close()
            return Seen("", (), str(error))
        return Seen(self.version, [one.look() for one in gpus])

    def opened(self) -> list[Gpu]:
        """Raises NVMLError."""
        if self.gpus is None:
            pynvml.nvmlInit()
            self.gpus = []
            self.version = pynvml.nvmlSystemGetDriverVersion()
            self.gpus = [Gpu(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return self.gpus

    def listen(self) -> None:
        """For events between two looks: the driver keeps the last one alone."""
        if self.lock.acquire(blocking=False):
            try:
                for one in self.gpus or ():
                    one.listen()
            finally:
                self.lock.release()

    def close(self) -> None:
        if self.gpus is not None:
            for one in self.gpus:
                one.close()
            self.gpus = None
            with contextlib.suppress(pynvml.NVMLError):
                pynvml.nvmlShutdown()

"""How tests wait for what comes by itself."""

import time
from collections.abc import Callable
from typing import Any


def eventually(what: Callable[[], Any], seconds: float = 180, forgiven: tuple[type[Exception], ...] = ()) -> Any:
    """What it gives as soon as that is true; until then it may fail by what is `forgiven`.

    A look that costs a process is taken less often than one that costs nothing: looks are a sixth of the time.
    """
    deadline = time.monotonic() + seconds
    while True:
        begun, problem = time.monotonic(), None
        try:
            if found := what():
                return found
        except forgiven as error:
            problem = error
        if time.monotonic() >= deadline:
            raise AssertionError("it never came") from problem
        time.sleep(max(0.1, min(3.0, 5 * (time.monotonic() - begun))))

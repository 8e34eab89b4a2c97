"""That something has changed in a cloud, for whoever keeps machines and names by it. One cloud a process."""

import threading
import time

_version = 0
_condition = threading.Condition()


def changed() -> None:
    """Something was written: who waits looks again."""
    global _version
    with _condition:
        _version += 1
        _condition.notify_all()


def await_change(known: int, seconds: float) -> int:
    """The version, as soon as it is another than `known`, or when the time is over."""
    deadline = time.monotonic() + seconds
    with _condition:
        while _version == known and (left := deadline - time.monotonic()) > 0:
            _condition.wait(left)
        return _version

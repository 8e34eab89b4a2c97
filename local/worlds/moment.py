"""Time and chance of a call: given to it once, so that the same call can be made again with the same outcome.

`install` takes the place of the clock and of the system's random numbers for those who read them within `Moment.holds`,
and in that thread alone. It has to come before whatever takes `datetime` by name is loaded.
"""

import datetime as datetimes
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

REAL = datetimes.datetime
_random_bytes, _time = os.urandom, time.time
_current = threading.local()
# What else is to begin from a moment's seed.
_seeded: list[Callable[[bytes], Any]] = [random.seed]


class Moment(NamedTuple):
    """Seconds since 1970, and the seed of all that a call takes from chance."""

    at: float
    seed: bytes

    @contextmanager
    def holds(self) -> Iterator["FixedMoment"]:
        """For the calling thread."""
        fixed = _current.fixed = FixedMoment(self)
        for seed in _seeded:
            seed(self.seed)
        try:
            yield fixed
        finally:
            _current.fixed = None


class FixedMoment:
    """A moment that holds. `repeatable` is False once something has taken from chance what no seed decides."""

    def __init__(self, moment: Moment) -> None:
        self.at, self.seed = moment.at, moment.seed
        self.repeatable = True
        self._random: random.Random | None = None

    def bytes(self, count: int) -> bytes:
        self._random = self._random or random.Random(self.seed)  # noqa: S311 - the seed is the system's
        return self._random.randbytes(count)


def now() -> Moment:
    return Moment(_time(), _random_bytes(16))


def current() -> FixedMoment | None:
    found: FixedMoment | None = getattr(_current, "fixed", None)
    return found


def urandom(count: int) -> bytes:
    fixed = current()
    return fixed.bytes(count) if fixed else _random_bytes(count)


def seconds() -> float:
    fixed = current()
    return fixed.at if fixed else _time()


class Datetime(REAL):
    """`datetime.datetime`, whose now is the moment's. Those that C makes are none of ours, and nobody here asks."""

    @classmethod
    def now(cls, tz: Any = None) -> "Datetime":
        return cls.fromtimestamp(seconds(), tz)

    @classmethod
    def utcnow(cls) -> "Datetime":
        return cls.fromtimestamp(seconds(), datetimes.UTC).replace(tzinfo=None)


def install(*seeded: Callable[[bytes], Any]) -> None:
    """`seeded`: other sources of chance. Call once, first of all."""
    _seeded.extend(seeded)
    if datetimes.datetime is not REAL:
        return
    Datetime.__module__, Datetime.__name__, Datetime.__qualname__ = "datetime", "datetime", "datetime"
    names: tuple[tuple[Any, str, Any], ...] = (
        (datetimes, "datetime", Datetime),
        (time, "time", seconds),
        (os, "urandom", urandom),
        (random, "_urandom", urandom),  # that of SystemRandom, and so of `secrets`
    )
    for owner, name, ours in names:
        setattr(owner, name, ours)
    _keys()


def _keys() -> None:
    """Keys that OpenSSL makes take their chance where no seed reaches."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    def telling(make: Any) -> Any:
        def made(*args: Any, **given: Any) -> Any:
            if fixed := current():
                fixed.repeatable = False
            return make(*args, **given)

        return made

    for module in (rsa, ec):
        setattr(module, "generate_private_key", telling(module.generate_private_key))  # noqa: B010 - mypy's

"""What a pool's machines may be by the fleet file, in the form of tables: the same on every cloud."""

import json
from collections.abc import Callable
from typing import Any

from fleet.model import Pool

# What is wrong with a value, for a pool; None if nothing is.
Judge = Callable[[Any, Pool], str | None]
# A pool's machine waits so long for the pods' own grace before it goes: components/pools/aws/hooks.py.
LONGEST_SECONDS = 600
ALONE = "Leave it to the autoscaler: it knows what a machine is doing"
UNTOLD = "Leave it out, for it ends work that nobody has told"


def only(allowed: list[Any]) -> Judge:
    return lambda value, _: None if value in allowed else f"is {json.dumps(value)}"

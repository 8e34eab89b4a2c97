"""How a server begins with what is kept."""

import os
import sys

from .world import StoredWorld, WorldError

ORDER = "PYTHONHASHSEED"


def same_order() -> None:
    """Begins this program again with sets that have one order in every process: calls that are made again need it."""
    if os.environ.get(ORDER) != "0":
        os.environ[ORDER] = "0"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606


def restore(world: StoredWorld) -> None:
    """Ends the program where it can't."""
    try:
        world.restore()
    except WorldError as error:
        sys.exit(str(error))

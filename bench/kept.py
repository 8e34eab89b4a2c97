"""How long the example fleet takes to come back from what was saved, against bringing it up from nothing.

Both end when every node of every cluster has told its API that it is there. Beside seconds, the CPU seconds of it
all, since others may be at work on this computer.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support import example, saved
from tests.support.cloud import Cloud
from tests.support.cpu import Meter

NAME = "bench"
METER = Meter()


class Took(NamedTuple):
    """Seconds by the clock, and of CPU."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Took:
    begun, before = time.monotonic(), METER.seconds()
    work()
    return Took(time.monotonic() - begun, METER.seconds() - before)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as name:
        folder, shelf = Path(name), Path(name) / "saved"
        cloud = Cloud(folder / "home", example.in_aws(folder))
        try:

            def up() -> None:
                cloud.run("up", "--local", "--yes", seconds=1200)
                saved.await_nodes(cloud)

            def save() -> None:
                saved.local(cloud, "save", NAME, shelf=shelf)

            def load() -> None:
                saved.local(cloud, "load", NAME, "--yes", shelf=shelf)
                saved.await_nodes(cloud)

            from_nothing, saving, loading = timed(up), timed(save), timed(load)
        finally:
            cloud.stop()
    for what, took in (("up from nothing", from_nothing), ("save", saving), ("load", loading)):
        print(f"{what}: {took.wall:.1f} s, {took.cpu:.1f} s of CPU")
    print(
        f"up from nothing / load: {from_nothing.wall / loading.wall:.1f} in seconds, "
        f"{from_nothing.cpu / loading.cpu:.1f} in seconds of CPU"
    )


if __name__ == "__main__":
    main()

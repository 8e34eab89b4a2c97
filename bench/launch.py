"""From `landbridge run` to the run's first line, in a whole local cloud, and how much of that is the pod's own start.

    PYTHONPATH=. .venv/bin/python bench/launch.py

A pod starts when it is made, and has started when its container has: fetching its code is part of that. The rest is what
the command adds: to look, to send code, to queue, to follow. The goal is 3 s. One launch goes before those that count.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.components.pools.joining_client import eventually
from tests.e2e.queued import QUEUED, READY_SECONDS, Queued
from tests.e2e.researcher import Researcher
from tests.support.cloud import make

LAUNCHES = 5


class Launch(NamedTuple):
    """Seconds to the first line, and of the pod's start in them."""

    whole: float
    pod: float

    @property
    def beyond(self) -> float:
        return self.whole - self.pod


def launched(ann: Researcher, queued: Queued, number: int) -> Launch:
    name, folder = f"launch-{number}", ann.home / "launch"
    folder.mkdir(exist_ok=True)
    (folder / "run.sh").write_text("echo begun\n")
    begun = time.monotonic()
    running = ann.start("run", "--folder", str(folder), "--gpus", "1", "--name", name, "--", "sh", "run.sh")
    assert running.stdout
    # Before it stands where it would go.
    line = next((line for line in running.stdout if line == "begun\n"), "")
    whole = time.monotonic() - begun
    _, told = running.communicate(timeout=60)
    assert line == "begun\n", f"{line!r}, and: {told}"
    (pod,) = queued.get("-n", "team-lab", "pods", "-l", f"landbridge.dev/run={name}")["items"]
    (status,) = pod["status"]["containerStatuses"]
    started = datetime.fromisoformat(status["state"]["terminated"]["startedAt"])
    return Launch(whole, (started - datetime.fromisoformat(pod["metadata"]["creationTimestamp"])).total_seconds())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=LAUNCHES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="launch-") as folder:
        cloud = make(Path(folder), QUEUED)
        try:
            cloud.run("up", "--local", "--yes", seconds=1200)
            queued = Queued(cloud)
            for name in ("kueue", "jobset"):
                eventually(partial(queued.ready, name), READY_SECONDS)
            ann = Researcher(cloud, "ann", Path(folder))
            launched(ann, queued, 0)
            found = [launched(ann, queued, number) for number in range(1, given.launches + 1)]
        except subprocess.TimeoutExpired as error:
            print(error)
            return 1
        finally:
            cloud.stop()
    for what in ("whole", "pod", "beyond"):
        times = sorted(getattr(one, what) for one in found)
        print(f"{what:<7} {statistics.median(times):6.2f} s  ({times[0]:.2f} to {times[-1]:.2f})")
    print(json.dumps([one._asdict() for one in found]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""An `up` that changes nothing: without the engine, against the same one with it, in turns in one world.

The fleet is the example's first region; `python bench/unchanged.py` brings it up in a local cloud of its own.
"""

import statistics
import tempfile
import time
from pathlib import Path

from tests.support.cloud import ROOT, Cloud

ROUNDS = 3
WORDS = ("up", "--local", "--yes", "us-west-2", "us-east-1")


def seconds(cloud: Cloud, *more: str) -> float:
    begun = time.monotonic()
    told = cloud.report(*WORDS, *more)["stacks"]
    took = time.monotonic() - begun
    assert {one["engine"] for one in told} == {bool(more)}
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cloud = Cloud(Path(folder) / "home", Path(folder) / "fleet.yaml")
        for name in ("fleet.yaml", "fleet.lock.yaml"):
            (cloud.fleet.parent / name).write_text((ROOT / name).read_text())
        try:
            cloud.report(*WORDS)
            rows = [(seconds(cloud, "--full"), seconds(cloud)) for _ in range(ROUNDS)]
        finally:
            cloud.stop()
    full, short = (statistics.median(column) for column in zip(*rows, strict=True))
    print(
        f"an up of two stacks that changes nothing: {full:.2f} s with the engine, {short:.2f} s without: {full / short:.1f}"
    )


main()

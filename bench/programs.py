"""How long a program takes to start: as a fork of a run's interpreter, and as a Python of its own, in turns.

Both import what a pool's program does; the interpreter's own start, once a run, is told beside them.
"""

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from landbridge.engine.programs import client, interpreter

ROUNDS = 7


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        interpreter.make_folder(Path(folder))
        python = f"{folder}/{interpreter.FOLDER}/bin/python"
        began = time.monotonic()
        forks = {**os.environ, **interpreter.environment({})}
        start(python, forks)
        first = time.monotonic() - began
        own = {name: value for name, value in os.environ.items() if name != client.ADDRESS}
        took = [(start(python, own), start(python, forks)) for _ in range(ROUNDS)]
    alone, forked = (statistics.median(column) for column in zip(*took, strict=True))
    print(
        f"a Python of its own {alone:.2f} s, a fork {forked:.3f} s: {alone / forked:.0f} times; the first {first:.2f} s"
    )


def start(python: str, environment: dict[str, str]) -> float:
    began = time.monotonic()
    subprocess.run([python, "-c", "import stacks.pool"], env=environment, check=True)
    return time.monotonic() - began


if __name__ == "__main__":
    main()

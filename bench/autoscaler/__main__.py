"""One autoscaler over every region, in one table: its answers, its loops, and a burst of 1,600 GPUs.

A line is printed when it is known, and the whole table at the end.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.autoscaler import answers, burst, loops
from bench.autoscaler.row import HEAD, Row

PARTS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "answers": answers.rows,
    "loop-1000": lambda folder: loops.rows(folder, loops.SIZES[0]),
    "loop-5000": lambda folder: loops.rows(folder, loops.SIZES[1]),
    "burst": burst.rows,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all unless given")
    given = parser.parse_args()
    if unknown := sorted({*given.parts} - {*PARTS}):
        parser.error(f"no part is called {', '.join(unknown)}: there are {', '.join(PARTS)}")
    table: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as folder:
        for name in given.parts or PARTS:
            for row in PARTS[name](Path(folder) / name):
                print(row.told(), flush=True)
                table.append(row)
    print("", HEAD, *(row.told() for row in table), sep="\n")


if __name__ == "__main__":
    main()

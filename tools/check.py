"""A quick check for work in between: `make check`, or `make check BASE=main` for all that a branch has changed.

Style, types, the rules of the house, and the tests that a change touches, as far as they need no cloud and the time
suffices. What is left is named: `make test` runs it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from source_facts import Store
from touched import Changes, Graph, changed, listed

ROOT = Path(__file__).resolve().parent.parent
HOUSE = ("tests/test_house.py", "tests/test_docs.py")
FACTS = ".landbridge/source-facts.json"
# What files took as this ran them, and as `make test` did: tests/support/times.py.
TIMES, WHOLE_TIMES = ".landbridge/check-times.json", ".landbridge/test-times.json"
# For tests, of the 90 that all may take.
SECONDS = 60.0
WORKERS = 2
# Of a file that has not run yet.
UNKNOWN_SECONDS = 1.0
# Of workers' time; collecting takes the rest.
SHARE = 0.7
# Workers take so long to begin.
APART_SECONDS = 10.0
NAMED = 12


class Chosen(NamedTuple):
    """Tests to run, and files that are left to `make test`: those with clouds, those that time does not suffice for."""

    run: list[str]
    seconds: float
    clouds: list[str]
    late: list[str]


def choose(graph: Graph, touched: Mapping[str, int], took: Mapping[str, float], seconds: float) -> Chosen:
    """The nearest to the change first, then those that take least; whole files where all of a file's tests run."""
    clouds = graph.with_clouds()
    files = by_file(test for test in touched if test not in clouds)
    every = by_file(graph.tests)
    near = {file: min(touched[test] for test in tests) for file, tests in files.items()}
    took = {file: took.get(file, UNKNOWN_SECONDS) for file in files}
    order = sorted(files.keys() - set(HOUSE), key=lambda file: (near[file] > 2, took[file], file))
    run, late, spent = list(HOUSE), [], 0.0
    for file in order:
        if spent + took[file] > seconds:
            late.append(file)
            continue
        spent += took[file]
        run += [file] if files[file] == every[file] else sorted(files[file])
    return Chosen(run, spent, sorted(by_file(touched.keys() & clouds)), sorted(late))


def by_file(tests: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for test in tests:
        found[test.partition("::")[0]].add(test)
    return found


def durations(root: Path, clouds: Iterable[str]) -> dict[str, float]:
    """What files take, by file. Those with clouds took that for tests which don't run here."""
    found: dict[str, float] = {}
    for name, ignored in ((WHOLE_TIMES, {*by_file(clouds)}), (TIMES, set[str]())):
        if (path := root / name).exists():
            files = json.loads(path.read_text())["files"]
            found |= {file: row["wall"] for file, row in files.items() if file not in ignored}
    return found


def room() -> float:
    """Seconds of tests that fit in: fewer on a machine that has other work."""
    idle = min(1.0, (os.cpu_count() or 1) / max(os.getloadavg()[0], 0.1))
    return SECONDS * WORKERS * SHARE * idle


def left_out(names: list[str], why: str) -> list[str]:
    """One line on files that are left, with their names if they are few."""
    if not names:
        return []
    listed = f": {' '.join(names)}" if len(names) <= NAMED else ""
    return [f"Left for `make test`: {len(names)} files {why}{listed}"]


def tests(chosen: Chosen) -> subprocess.Popen[bytes]:
    apart = (
        ["--numprocesses", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"]
        if chosen.seconds > APART_SECONDS
        else []
    )
    plugins = ["-p", "tests.support.times", "--times", TIMES, "-p", "tests.support.until"]
    until = ["--until", str(time.time() + SECONDS)]
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--no-header", *plugins, *until, *apart, *chosen.run]
    return subprocess.Popen(command, cwd=ROOT)


def begin(program: str, *words: str) -> subprocess.Popen[str]:
    """A program of the environment, whose output is shown when it has ended."""
    command = [str(Path(sys.executable).with_name(program)), *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", nargs="?", default="HEAD", help="what the work in this folder is compared with")
    base, begun = parser.parse_args().base, time.monotonic()
    try:
        changes = changed(ROOT, base)
        store = Store(ROOT, ROOT / FACTS)
        graph = Graph(ROOT, listed(ROOT) | changes, store)
    except Changes as error:
        print(f"Git can't tell what has changed since {base}: {error}\nName a commit or branch: `make check BASE=main`")
        return 2
    store.save()
    touched = graph.touched(changes)
    took = durations(ROOT, graph.with_clouds())
    chosen = choose(graph, touched, took, room())
    if changes:
        print(
            f"{len(changes)} files differ from {base}; {len(touched)} tests of {len(by_file(touched))} files reach them"
        )
    else:
        print(f"Nothing differs from {base}: style, types and the rules of the house")
    style = [begin("ruff", "check", "."), begin("ruff", "format", "--check", ".")]
    types, running = begin("mypy"), tests(chosen)
    failed = []
    for name, process in {"style": style[0], "form": style[1], "types": types}.items():
        output, _ = process.communicate()
        if process.returncode != 0:
            failed.append(name)
            print(f"\n{name}:\n{output}", flush=True)
    if running.wait() != 0:
        failed.append("tests")
    lines = left_out(chosen.clouds, "that need a cloud") + left_out(chosen.late, "that take longer than there is time")
    print(
        *lines,
        f"{'Failed: ' + ', '.join(failed) if failed else 'Passed'} in {time.monotonic() - begun:.0f} s",
        sep="\n",
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

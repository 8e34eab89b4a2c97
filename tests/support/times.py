"""What each test file and each bed costs, in seconds of the clock and of CPU: a plugin of pytest that writes it down.

    pytest -p tests.support.times ...     as `make test` does
    python -m tests.support.times         the dearest, as `make test-times` prints them

Each process that runs tests counts by itself, and its figures travel with the reports of tests. A bed is a fixture whose
set-up and end took half a second or more. Of files and beds that a run had not, what an earlier one wrote down stays.
"""

import argparse
import datetime
import json
import os
import sys
import time
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cpu import Meter

ROOT = Path(__file__).parents[2]
RECORD = ".landbridge/test-times.json"
COST = "landbridge: cost"
BED_SECONDS = 0.5
Figures = dict[str, Any]


class Measure:
    """In each process that runs tests: adds to the last report of a test what it cost since the one before it."""

    def __init__(self, meter: Meter) -> None:
        self.meter, self.spent = meter, -1.0
        self.begun = 0.0
        self.beds: list[Figures] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """What a fixture needs is set up before this, so that no bed's figures hold another's."""
        bed = {"bed": f"{fixturedef.baseid}::{fixturedef.argname}", "scope": fixturedef.scope}
        ending: list[tuple[float, float]] = []
        # The last one that is added runs first: the fixture's own end lies between these two.
        fixturedef.addfinalizer(lambda: self._note(bed, ending.pop(), up=False) if ending else None)
        begun = self._now()
        try:
            return (yield)
        finally:
            self._note(bed, begun, up=True)
            fixturedef.addfinalizer(lambda: ending.append(self._now()))

    def _now(self) -> tuple[float, float]:
        return time.monotonic(), self.meter.seconds()

    def _note(self, bed: Figures, since: tuple[float, float], *, up: bool) -> None:
        wall, cpu = self._now()
        self.beds.append({**bed, "up": up, "wall": wall - since[0], "cpu": cpu - since[1]})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        self.begun = time.monotonic()
        if self.spent < 0:  # what collecting has cost is no test's
            self.spent = self.meter.seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if call.when == "teardown":
            spent, self.spent = self.spent, self.meter.seconds()
            cost = {"wall": time.monotonic() - self.begun, "cpu": self.spent - spent, "beds": self.beds}
            report.user_properties.append((COST, cost))
            self.beds = []
        return report


class Ledger:
    """In the process that hears of all tests: sums up, and writes the record."""

    def __init__(self, meter: Meter, path: Path) -> None:
        self.meter, self.path, self.begun = meter, path, time.monotonic()
        self.files: dict[str, Figures] = {}
        self.beds: dict[str, Figures] = {}
        self.workers = 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: list[Any]) -> None:
        self.workers = len(specs)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for cost in (value for name, value in report.user_properties if name == COST):
            beds = sum(bed["wall"] for bed in cost["beds"])
            add(self.files, report.nodeid.partition("::")[0], tests=1, wall=cost["wall"], cpu=cost["cpu"], beds=beds)
            for bed in cost["beds"]:
                up = bed["up"]
                sides = {"times": int(up), "up": bed["wall"] * up, "down": bed["wall"] * (not up)}
                add(self.beds, bed["bed"], **sides, cpu=bed["cpu"])["scope"] = bed["scope"]

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if not self.files:
            return
        run = {
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "wall": time.monotonic() - self.begun,
            "cpu": self.meter.seconds(),
            "whole": self.meter.whole,
            "cores": len(os.sched_getaffinity(0)),
            "workers": self.workers,
            "files": len(self.files),
            "tests": sum(file["tests"] for file in self.files.values()),
            "in_tests": sum(file["cpu"] for file in self.files.values()),
            "exit_status": int(exitstatus),
        }
        beds = {name: bed for name, bed in self.beds.items() if bed["up"] + bed["down"] >= BED_SECONDS}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(merged(read(self.path), run, self.files, beds, self.path.parents[1]), indent=1)
        new = self.path.with_suffix(f".{os.getpid()}")
        new.write_text(text + "\n")
        new.replace(self.path)


def add(table: dict[str, Figures], name: str, **figures: float) -> Figures:
    row = table.setdefault(name, dict.fromkeys(figures, 0))
    for key, value in figures.items():
        row[key] = round(row[key] + value, 3)
    return row


def merged(old: Figures, run: Figures, files: dict[str, Figures], beds: dict[str, Figures], root: Path) -> Figures:
    """What no run has now, since its file is gone, goes."""
    there = {**old.get("files", {}), **files}, {**old.get("beds", {}), **beds}
    kept = ({name: row for name, row in rows.items() if (root / name.partition("::")[0]).exists()} for rows in there)
    return {"run": run, **dict(zip(("files", "beds"), kept, strict=True))}


def read(path: Path) -> Figures:
    return dict(json.loads(path.read_text())) if path.exists() else {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", default=RECORD, help="where costs are written down, told from the root")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    meter = Meter()
    config.add_cleanup(meter.close)
    worker = hasattr(config, "workerinput")
    if worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Measure(meter), "landbridge-measure")
    if not worker:
        config.pluginmanager.register(Ledger(meter, config.rootpath / config.getoption("times")), "landbridge-ledger")


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"


def head(run: Figures) -> list[str]:
    """What the run was, and how much of the cores' time it used."""
    ended = "" if run["exit_status"] == 0 else f", ended with {run['exit_status']}"
    could = run["wall"] * run["cores"]
    lines = [
        f"{run['at']}: {run['tests']} tests of {run['files']} files by {run['workers']} workers in {minutes(run['wall'])}{ended}",
        f"CPU: {run['cpu']:.0f} s, {100 * run['cpu'] / could:.0f} % of what {run['cores']} cores had in that time; "
        f"{run['cpu'] - run['in_tests']:.0f} s of it between tests and before them (imports, collecting)",
    ]
    if not run["whole"]:
        lines.append("No cgroup could be made here: CPU of daemons, which nobody waits for, is not counted.")
    return lines


def table(title: str, rows: dict[str, Figures], columns: dict[str, str], key: str, most: int) -> list[str]:
    """The dearest by `key`; `columns` are headings by the figures' names."""
    order = sorted(rows, key=lambda name: -rows[name][key])
    width = max((len(name) for name in order[:most]), default=0)

    def line(name: str, cells: Iterable[str]) -> str:
        return f"{name:{width}}" + "".join(f"{cell:>9}" for cell in cells)

    lines = ["", line(title, columns.values())]
    lines += [line(name, (shown(rows[name][column]) for column in columns)) for name in order[:most]]
    if rest := order[most:]:
        lines.append(line(f"{len(rest)} more", (shown(sum(rows[name][column] for name in rest)) for column in columns)))
    return lines


def shown(figure: float) -> str:
    return str(figure) if isinstance(figure, int) else f"{figure:.1f}"


FILES = {"wall": "wall s", "cpu": "CPU s", "beds": "beds s", "tests": "tests"}
BEDS = {"up": "up s", "down": "end s", "cpu": "CPU s", "times": "times"}


def main() -> None:
    parser = argparse.ArgumentParser(description="The dearest test files and beds, as the last runs wrote them down.")
    parser.add_argument("--by", choices=("cpu", "wall"), default="cpu")
    parser.add_argument("--most", type=int, default=30, help="so many of each")
    asked = parser.parse_args()
    record = read(ROOT / RECORD)
    if not record:
        parser.exit(1, f"No run has written {RECORD} yet: `make test` does.\n")
    lines = head(record["run"])
    lines += table("file", record["files"], FILES, asked.by, asked.most)
    lines += table("bed", record["beds"], BEDS, "cpu" if asked.by == "cpu" else "up", asked.most)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

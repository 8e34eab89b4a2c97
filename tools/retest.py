"""Runs the tests; the files of a few that failed once more, alone: `python tools/retest.py OPTIONS OF PYTEST`.

Tests with whole clouds share few cores, and one that waits too long now and then is told, not hidden. A failure that
stays is one; so are crashed workers, files that can't be collected, and more failures than noise makes.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

# Of files: a bed that comes up too late fails every test of its file.
MOST = 8
RECORD = "LANDBRIDGE_TEST_RECORD"
ALONE = "passed only when run alone:"


class Ran(NamedTuple):
    """One run of pytest: its exit status, the tests (by id) that failed and passed, what no second run can heal."""

    code: int
    failed: list[str]
    passed: list[str]
    fatal: list[str]
    summary: str


class Recorder:
    """A plugin of pytest: writes down what became of each test."""

    def __init__(self, path: Path) -> None:
        self.path, self.begun, self.summary = path, time.monotonic(), ""
        self.failed: dict[str, None] = {}
        self.passed: dict[str, None] = {}
        self.fatal: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when not in ("setup", "call", "teardown"):  # xdist: the test that a worker died of
            self.fatal.append(f"a worker crashed in {report.nodeid}")
        if report.failed:
            self.failed[report.nodeid] = None
        elif report.when == "call" and report.passed:
            self.passed[report.nodeid] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.fatal.append(f"{report.nodeid} can't be collected")

    def pytest_internalerror(self, excrepr: object) -> None:
        self.fatal.append(f"pytest itself failed: {str(excrepr).strip().splitlines()[-1:]}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        if error:
            self.fatal.append(f"the worker {node.gateway.id} ended: {error}")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        counts, _ = terminalreporter.build_summary_stats_line()
        self.summary = f"{', '.join(text for text, _ in counts)} in {time.monotonic() - self.begun:.0f} s"

    def write(self, code: int) -> None:
        passed = [test for test in self.passed if test not in self.failed]
        self.path.write_text(json.dumps(Ran(code, list(self.failed), passed, self.fatal, self.summary)))


def run(arguments: list[str]) -> Ran:
    """pytest in a process of its own; what it prints goes where ours goes."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        command = [sys.executable, __file__, *arguments]
        done = subprocess.run(command, env={**os.environ, RECORD: str(record)}, check=False)
        if not record.exists():
            return Ran(done.returncode or 1, [], [], ["pytest was ended"], "no summary")
        return Ran(*json.loads(record.read_text()))


def files(tests: list[str]) -> list[str]:
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


def lasting(first: Ran) -> str:
    """Why a second run would not change the first one's failure; empty when it may."""
    if first.fatal:
        return "; ".join(first.fatal)
    if first.code != 1 or not first.failed:
        return f"pytest ended with {first.code}, which is not for a test that failed"
    if len(where := files(first.failed)) > MOST:
        return f"tests of {len(where)} files failed, and more than {MOST} files are no noise"
    return ""


def verdict(first: Ran, second: Ran) -> tuple[int, list[str]]:
    """The exit status, and what to say: every test that failed must have run again and passed."""
    healed = [test for test in first.failed if test in second.passed]
    still = [test for test in first.failed if test not in healed]
    new = [test for test in second.failed if test not in first.failed]
    code = 1 if still or new or second.fatal or second.code != 0 else 0
    report = [ALONE, *(f"  {test}" for test in healed)] if healed else []
    report += ["failed when run alone, too:", *(f"  {test}" for test in still)] if still else []
    report += ["failed only when run alone:", *(f"  {test}" for test in new)] if new else []
    report += [f"  {why}" for why in second.fatal]
    return code, [*report, f"alone: {second.summary}", f"all: {first.summary}"]


def main(arguments: list[str]) -> int:
    if record := os.environ.pop(RECORD, ""):
        # As `python -m pytest` has it; workers get the same.
        sys.path[0] = str(Path.cwd())
        recorder = Recorder(Path(record))
        code = int(pytest.main(arguments, plugins=[recorder]))
        recorder.write(code)
        return code
    first = run(arguments)
    if first.code == 0 and not first.fatal:
        return 0
    if why := lasting(first):
        print(f"\nnot run again: {why}\n{first.summary}", flush=True)
        return first.code or 1
    os.environ.pop("LANDBRIDGE_TESTS_UNTIL", None)  # what failed is not left out
    # Whole files: in some, one test begins where the one before it ended.
    again = files(first.failed)
    print(f"\nrun again, alone: {' '.join(again)}", flush=True)
    code, report = verdict(first, run(again))
    print("\n" + "\n".join(report), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""One lab for all tests of a process. Each test finds it settled."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import report
from .lab import Lab, example
from .machines import LabError

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

import lab as packages  # noqa: E402  isort: skip


@pytest.fixture(scope="package")
def possible() -> None:
    """Or there is no lab, and it is said."""
    lacking = packages.lacking()
    if lacking and os.environ.get("CI") == "true":
        pytest.fail(f"the network lab can't be run, and has to be where CI is true: {lacking}", pytrace=False)
    if lacking:
        pytest.skip(f"THE NETWORK LAB IS NOT RUN: {lacking}")


@pytest.fixture(scope="package")
def whole(tmp_path_factory: pytest.TempPathFactory, possible: None) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("lab"), *example())
    try:
        made.begin()
    except LabError as error:
        # A machine with other work may have been too slow; what is broken is so again.
        report.note("begun a second time", str(error)[:60])
        made = Lab(tmp_path_factory.mktemp("lab"), *example())
        made.begin()
    yield made
    made.close()


@pytest.fixture
def lab(whole: Lab) -> Lab:
    whole.settle()
    return whole


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if report.FIGURES:
        terminalreporter.section("network lab")
        for line in report.table():
            terminalreporter.write_line(line)

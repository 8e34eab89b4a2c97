"""A plugin of pytest, `-p tests.support.until --until SECONDS`: past that time (since 1970) no test begins.

The rules of the house run always. `make check` uses it.
"""

import time

import pytest

REASON = "the time was up: `make test` runs it"
HOUSE = ("tests/test_house.py", "tests/test_docs.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--until", type=float, default=float("inf"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.time() > item.config.getoption("until") and not item.nodeid.startswith(HOUSE):
        pytest.skip(REASON)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    left = [report.nodeid for report in skipped if REASON in str(report.longrepr)]
    if left:
        files = sorted({test.partition("::")[0] for test in left})
        terminalreporter.section("left, as the time was up")
        terminalreporter.write_line(f"{len(left)} tests of {len(files)} files: {' '.join(files)}")

"""Runs that have to end in time: once LANDBRIDGE_TESTS_UNTIL (seconds since 1970) is past, no file marked `long` begins.

Those files then come last, in another order for each commit, so that none is always left out; what is left out is a
skipped test that names its file. Without the variable every test runs, in the usual order.
"""

import hashlib
import os
import subprocess
import time
from pathlib import Path

import pytest

UNTIL = "LANDBRIDGE_TESTS_UNTIL"
ROOT = Path(__file__).parents[1]
begun = pytest.StashKey[set[Path]]()


def unit(path: Path) -> Path:
    """What is kept together: a file, or a folder whose files share what a conftest.py makes."""
    return path.parent if (ROOT / path.parent / "conftest.py").exists() else path


def commit() -> str:
    """The one that is tested; empty outside of a clone."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def place(path: Path, is_long: bool, seed: str) -> str:
    """Sorts files, which are told from the root: short ones stay where they are."""
    return hashlib.sha256(f"{seed} {unit(path)}".encode()).hexdigest() if is_long else ""


def is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if UNTIL in os.environ:
        seed = commit()
        items.sort(key=lambda item: place(item.path.relative_to(ROOT), is_long(item), seed))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if UNTIL not in os.environ or not is_long(item):
        return
    files = item.config.stash.setdefault(begun, set())
    if item.path not in files and time.time() > float(os.environ[UNTIL]):
        pytest.skip(f"no time left for {item.path.relative_to(ROOT)}: `make test` runs it")
    files.add(item.path)

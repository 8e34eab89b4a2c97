"""A run that has to end in time leaves out long files that have not begun, says which, and never a short one."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests import conftest

LONG = "import pytest\n\npytestmark = pytest.mark.long\n\n"
TWO = "def test_one():\n    pass\n\ndef test_two():\n    pass\n"
# The end passes while its first test runs.
LATE = LONG + f"import os\n\ndef test_one():\n    os.environ['{conftest.UNTIL}'] = '0'\n\ndef test_two():\n    pass\n"


def ran(folder: Path, until: float | None, **files: str) -> list[str]:
    (folder / "tests").mkdir()
    shutil.copy(conftest.__file__, folder / "tests/conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    for name, text in files.items():
        (folder / f"tests/test_{name}.py").write_text(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "LANDBRIDGE_"))}
    environment |= {conftest.UNTIL: str(until)} if until is not None else {}
    command = [sys.executable, "-m", "pytest", "-v", "-rs", "tests"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def outcomes(lines: list[str]) -> list[str]:
    return [" ".join(line.split()[:2]).removeprefix("tests/") for line in lines if "::" in line]


def test_all_run_in_the_usual_order_where_there_is_no_end(tmp_path: Path) -> None:
    lines = ran(tmp_path, None, a=LONG + TWO, b=TWO)
    assert outcomes(lines) == [f"test_{name}.py::test_{n} PASSED" for name in "ab" for n in ("one", "two")]


def test_short_ones_run_first_and_always(tmp_path: Path) -> None:
    lines = ran(tmp_path, time.time() - 1, a=LONG + TWO, b=TWO)
    assert outcomes(lines) == [
        "test_b.py::test_one PASSED",
        "test_b.py::test_two PASSED",
        "test_a.py::test_one SKIPPED",
        "test_a.py::test_two SKIPPED",
    ]
    assert [line for line in lines if line.startswith("SKIPPED") and "no time left for tests/test_a.py" in line]


def test_a_file_that_has_begun_ends(tmp_path: Path) -> None:
    lines = ran(tmp_path, time.time() + 3600, a=LATE)
    assert outcomes(lines) == ["test_a.py::test_one PASSED", "test_a.py::test_two PASSED"]


def test_each_commit_has_an_order_of_its_own() -> None:
    paths = [Path(f"tests/e2e/test_{n}.py") for n in range(20)]
    orders = [sorted(paths, key=lambda path: conftest.place(path, True, seed)) for seed in ("a", "a", "b")]
    assert orders[0] == orders[1] != orders[2]
    assert {conftest.place(path, False, "a") for path in paths} == {""}


def test_files_of_one_bed_stay_together() -> None:
    assert conftest.unit(Path("tests/stacks/test_pool.py")) == Path("tests/stacks")
    assert conftest.unit(Path("tests/e2e/test_drills.py")) == Path("tests/e2e/test_drills.py")


def test_ci_names_an_end() -> None:
    assert conftest.UNTIL in (conftest.ROOT / ".ci/run").read_text()

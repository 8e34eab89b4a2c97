"""Long files share two workers, begin only while there is time, and are named where there is none; others always run."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests import conftest

# Of one unit: see conftest.TOGETHER.
SHARED = ("experiments", "why")
TWO = "def test_one():\n    pass\n\ndef test_two():\n    pass\n"
# The end passes while its first test runs.
LATE = f"import os\n\ndef test_one():\n    os.environ['{conftest.UNTIL}'] = '0'\n\ndef test_two():\n    pass\n"
# Which worker had which file.
TELLS = "import os\n\ndef test_it():\n    open('workers', 'a').write(os.environ['{}'] + ' {}\\n')\n"


def ran(folder: Path, until: float | None, *options: str, **files: str) -> list[str]:
    """pytest's lines; files whose names begin with `long` are of a folder of long ones."""
    for name in ("tests/e2e", "tests/fleet"):
        (folder / name).mkdir(parents=True)
    shutil.copy(conftest.__file__, folder / "tests/conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name, text in files.items():
        (folder / f"tests/{'e2e' if name.startswith(('long', *SHARED)) else 'fleet'}/test_{name}.py").write_text(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "LANDBRIDGE_"))}
    environment |= {conftest.UNTIL: str(until)} if until is not None else {}
    command = [sys.executable, "-m", "pytest", "-v", "-rs", *options, "tests"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def outcomes(lines: list[str]) -> list[str]:
    return [" ".join(line.split()[:2]).partition("/test_")[2] for line in lines if "::" in line]


def test_all_run_in_the_usual_order_where_there_is_no_end(tmp_path: Path) -> None:
    lines = ran(tmp_path, None, long_a=TWO, b=TWO)
    assert outcomes(lines) == [f"{name}.py::test_{n} PASSED" for name in ("long_a", "b") for n in ("one", "two")]


def test_short_ones_run_first_and_always(tmp_path: Path) -> None:
    lines = ran(tmp_path, time.time() - 1, long_a=TWO, b=TWO)
    assert outcomes(lines) == [
        "b.py::test_one PASSED",
        "b.py::test_two PASSED",
        "long_a.py::test_one SKIPPED",
        "long_a.py::test_two SKIPPED",
    ]
    assert [line for line in lines if line.startswith("SKIPPED") and "no time left for tests/e2e/test_long_a" in line]


def test_a_file_that_has_begun_ends(tmp_path: Path) -> None:
    lines = ran(tmp_path, time.time() + 3600, long_a=LATE)
    assert outcomes(lines) == ["long_a.py::test_one PASSED", "long_a.py::test_two PASSED"]


def test_of_files_that_share_a_cloud_none_begins_too_late_either(tmp_path: Path) -> None:
    lines = ran(tmp_path, time.time() + 3600, **dict.fromkeys(SHARED, LATE))
    assert conftest.unit("tests/e2e/test_why.py") == conftest.unit("tests/e2e/test_experiments.py")
    told = [line.split()[1] for line in outcomes(lines)]
    assert told == ["PASSED", "PASSED", "SKIPPED", "SKIPPED"], "the first that began ends, whichever it is"


def test_a_worker_takes_files_of_its_kind_while_there_are_any(tmp_path: Path) -> None:
    files = {name: TELLS.format("PYTEST_XDIST_WORKER", name) for name in ("a", "b", "c", "d", "long_a", "long_b")}
    ran(tmp_path, None, "--numprocesses", "3", "--dist", "loadfile", "--no-loadscope-reorder", **files)
    had = dict(reversed(line.split()) for line in (tmp_path / "workers").read_text().splitlines())
    assert had.keys() == files.keys()
    # The third may have both kinds: on a busy machine another starts so late that it is done with its own by then.
    assert {had["long_a"], had["long_b"]} & {"gw0", "gw1"}
    assert "gw2" in {had[name] for name in "abcd"}


def test_each_commit_has_an_order_of_its_own() -> None:
    files = [f"tests/e2e/test_{n}.py" for n in range(20)]
    orders = [sorted(files, key=lambda file: conftest.place(file, seed)) for seed in ("a", "a", "b")]
    assert orders[0] == orders[1] != orders[2]
    assert conftest.place("tests/fleet/test_loader.py", "a") == ""


def test_long_files_are_there() -> None:
    named = [*conftest.LONG, *(file for group in conftest.TOGETHER for file in group)]
    assert [path for path in named if not (conftest.ROOT / path).exists()] == []


def test_files_that_share_a_cloud_are_one_unit() -> None:
    assert conftest.unit("tests/stacks/test_packets.py") == conftest.unit("tests/stacks/test_region.py")
    assert conftest.unit("tests/stacks/test_pool.py") == "tests/stacks/test_pool.py"
    uses = {
        path.stem.removeprefix("test_")
        for path in (conftest.ROOT / "tests/stacks").glob("test_*.py")
        if "(cloud: Cloud" in path.read_text() or "states: Path" in path.read_text()
    }
    assert uses <= set(conftest.EXAMPLE)


def test_ci_names_an_end() -> None:
    assert conftest.UNTIL in (conftest.ROOT / ".ci/run").read_text()

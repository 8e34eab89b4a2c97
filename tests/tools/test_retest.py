"""Tests that fail once run again, alone, and are named; no failure is lost on the way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools/retest.py"
sys.path.insert(0, str(TOOL.parent))

import retest  # noqa: E402

ONCE = """
import pathlib

mark = pathlib.Path(__file__).with_suffix(".mark")

def test_quiet():
    pass

def test_busy():
    if not mark.exists():
        mark.touch()
        raise AssertionError("a two-core machine")
"""
ALWAYS = "def test_wrong():\n    assert 1 == 2\n"


def first(*failed: str) -> retest.Ran:
    return retest.Ran(1, list(failed), [], [], "some failed")


def ran(folder: Path, *options: str) -> tuple[int, str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    # The plugins' and options' of this run are not that one's.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "LANDBRIDGE_TEST"))
    }
    command = [sys.executable, str(TOOL), "--numprocesses", "2", "--dist", "loadfile", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)


def test_what_passes_runs_once(tmp_path: Path) -> None:
    write(tmp_path, good="def test_good():\n    pass\n")
    code, out = ran(tmp_path)
    assert code == 0
    assert "alone" not in out
    assert "1 passed" in out.splitlines()[-1]


def test_a_test_that_passes_alone_is_named_and_the_summary_kept(tmp_path: Path) -> None:
    write(tmp_path, once=ONCE, good="def test_good():\n    pass\n")
    code, out = ran(tmp_path)
    assert code == 0, out
    assert "run again, alone: test_once.py\n" in out
    assert "passed only when run alone:\n  test_once.py::test_busy\nalone: 2 passed" in out
    assert out.splitlines()[-1].startswith("all: 1 failed, 2 passed in ")


def test_a_test_that_fails_again_fails(tmp_path: Path) -> None:
    write(tmp_path, once=ONCE, always=ALWAYS)
    code, out = ran(tmp_path)
    assert code == 1
    assert "passed only when run alone:\n  test_once.py::test_busy\n" in out
    assert "failed when run alone, too:\n  test_always.py::test_wrong\n" in out


def test_a_test_that_is_skipped_the_second_time_has_not_passed() -> None:
    code, told = retest.verdict(
        first("a.py::one", "a.py::two"), retest.Ran(0, [], ["a.py::one"], [], "1 passed, 1 skipped")
    )
    assert code == 1
    assert told[:4] == ["passed only when run alone:", "  a.py::one", "failed when run alone, too:", "  a.py::two"]


def test_one_that_fails_only_alone_fails() -> None:
    code, told = retest.verdict(
        first("a.py::one"), retest.Ran(1, ["a.py::two"], ["a.py::one"], [], "1 failed, 1 passed")
    )
    assert code == 1
    assert told[2:4] == ["failed only when run alone:", "  a.py::two"]


def test_a_second_run_that_ends_otherwise_fails() -> None:
    assert retest.verdict(first("a.py::one"), retest.Ran(2, [], ["a.py::one"], [], ""))[0] == 1
    assert retest.verdict(first("a.py::one"), retest.Ran(0, [], ["a.py::one"], ["a crash"], ""))[0] == 1


@pytest.mark.parametrize("code", [0, 2, 3, 4, 5, -9])
def test_only_failed_tests_are_run_again(code: int) -> None:
    assert retest.lasting(first("a.py::one")) == ""
    assert retest.lasting(first("a.py::one")._replace(code=code)) != ""
    assert retest.lasting(first()) != ""
    assert retest.files(["a.py::one[b::c]", "d.py::two", "a.py::three"]) == ["a.py", "d.py"]


def test_errors_of_fixtures_count_as_failures(tmp_path: Path) -> None:
    fixture = "import pytest\n\n@pytest.fixture\ndef broken():\n    raise OSError\n\ndef test_it(broken):\n    pass\n"
    write(tmp_path, fixture=fixture)
    code, out = ran(tmp_path)
    assert code == 1
    assert "failed when run alone, too:\n  test_fixture.py::test_it\n" in out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import os\n\ndef test_dies():\n    os._exit(1)\n", "a worker crashed in test_bad.py::test_dies"),
        ("import nothing_of_this_name\n", "test_bad.py can't be collected"),
    ],
    ids=["crash", "collection"],
)
def test_what_is_no_noise_fails_at_once(tmp_path: Path, text: str, why: str) -> None:
    write(tmp_path, bad=text, once=ONCE)
    code, out = ran(tmp_path)
    assert code != 0
    assert "not run again: " in out
    assert why in out
    assert "run again, alone" not in out


def test_more_than_a_few_files_are_no_noise(tmp_path: Path) -> None:
    write(tmp_path, once=ONCE, **{f"wrong_{n}": ALWAYS for n in range(8)})
    code, out = ran(tmp_path)
    assert code == 1
    assert "not run again: tests of 9 files failed, and more than 8 files are no noise" in out


def test_the_makefile_runs_tests_by_it() -> None:
    assert "tools/retest.py --numprocesses" in (TOOL.parents[1] / "Makefile").read_text()

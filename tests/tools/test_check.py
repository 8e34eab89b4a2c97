"""The quick check: what runs first, what is left and named, and that nothing begins when the time is up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check  # noqa: E402
import touched  # noqa: E402
from source_facts import Store  # noqa: E402

from tests.support import until  # noqa: E402

ONE = "def test_it():\n    pass\n"
FILES = {
    "test_bundle": "def test_files():\n    pass\n\ndef test_other():\n    pass\n",
    "test_roll": ONE,
    "test_text": ONE,
    "test_up": f"import pytest\npytestmark = pytest.mark.cloud\n{ONE}",
}


def graph(folder: Path) -> touched.Graph:
    (folder / "tests").mkdir()
    for name, text in FILES.items():
        (folder / f"tests/{name}.py").write_text(text)
    return touched.Graph(folder, [f"tests/{name}.py" for name in FILES], Store(folder, folder / ".facts"))


def test_the_nearest_run_first_and_what_takes_too_long_is_left(tmp_path: Path) -> None:
    made = graph(tmp_path)
    near, far = "tests/test_bundle.py::test_files", "tests/test_roll.py::test_it"
    steps = {near: 1, far: 5, "tests/test_text.py::test_it": 5, "tests/test_up.py::test_it": 1}
    took = {"tests/test_bundle.py": 5.0, "tests/test_roll.py": 9.0, "tests/test_text.py": 3.0}
    chosen = check.choose(made, steps, took, 10)
    # Of a file with other tests its own one alone.
    assert chosen.run == [*check.HOUSE, near, "tests/test_text.py"]
    assert chosen.late == ["tests/test_roll.py"]
    assert chosen.clouds == ["tests/test_up.py"]
    assert check.choose(made, steps, {}, 100).late == []


def test_a_machine_with_other_work_gets_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    idle = check.room()
    assert idle == check.SECONDS * check.WORKERS * check.SHARE
    monkeypatch.setattr(os, "getloadavg", lambda: (8.0, 0.0, 0.0))
    assert check.room() == idle / 4


def test_what_is_left_is_named_if_it_is_little() -> None:
    assert check.left_out([], "that need a cloud") == []
    assert check.left_out(["a.py", "b.py"], "that need a cloud") == [
        "Left for `make test`: 2 files that need a cloud: a.py b.py"
    ]
    assert check.left_out(["a.py"] * 90, "that need a cloud") == ["Left for `make test`: 90 files that need a cloud"]


def test_what_files_took_is_known_but_for_those_with_clouds(tmp_path: Path) -> None:
    (tmp_path / ".landbridge").mkdir()
    assert check.durations(tmp_path, []) == {}
    for name, files in (
        (check.WHOLE_TIMES, {"tests/test_a.py": 4.0, "tests/test_up.py": 300.0}),
        (check.TIMES, {"tests/test_b.py": 1.0}),
    ):
        (tmp_path / name).write_text(json.dumps({"files": {file: {"wall": wall} for file, wall in files.items()}}))
    took = check.durations(tmp_path, ["tests/test_up.py::test_it"])
    assert took == {"tests/test_a.py": 4.0, "tests/test_b.py": 1.0}


def test_nothing_but_the_house_begins_when_the_time_is_up(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tests").mkdir()
    for name in ("test_house", "test_late"):
        (tmp_path / f"tests/{name}.py").write_text(ONE)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-p",
        "tests.support.until",
        "--until",
        "1",
        "--rootdir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*command, str(tmp_path / "tests")], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert "test_house.py::test_it PASSED" in done.stdout
    assert "test_late.py::test_it SKIPPED" in done.stdout
    assert "1 tests of 1 files: tests/test_late.py" in done.stdout
    assert until.HOUSE == check.HOUSE
    assert [name for name in check.HOUSE if not (ROOT / name).exists()] == []

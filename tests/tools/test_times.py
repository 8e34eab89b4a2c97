"""What tests and beds cost is written down, with the CPU of daemons; what a run had not stays."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import cpu, times

ROOT = Path(__file__).parents[2]
BURNT = 0.4
COLLECTING = 2.0
# A daemon that nobody waits for, in a session of its own.
BED = f"""
import subprocess, sys, time
import pytest

BURN = '''
import os, pathlib, sys, time
if os.fork():
    os._exit(0)
os.setsid()
while time.process_time() < {BURNT}:
    pass
pathlib.Path(sys.argv[1]).touch()
'''

@pytest.fixture(scope="package")
def below():
    pass

@pytest.fixture(scope="package")
def bed(below, tmp_path_factory):
    done = tmp_path_factory.mktemp("bed") / "done"
    subprocess.run([sys.executable, "-c", BURN, str(done)], check=True)
    while not done.exists():
        time.sleep(0.05)
    yield
    time.sleep(0.6)
"""
ONE = "def test_a(bed):\n    pass\n\ndef test_b(bed):\n    pass\n"


def suite(folder: Path, **files: str) -> None:
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name, text in files.items():
        (folder / f"tests/{name}.py").write_text(text)


def ran(folder: Path, *options: str) -> Any:
    """The record after a run."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "LANDBRIDGE_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.support.times", "--rootdir", str(folder), *options]
    done = subprocess.run(
        [*command, str(folder / "tests")], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / times.RECORD).read_text())


@pytest.mark.parametrize("options", [(), ("--numprocesses", "2", "--dist", "loadfile")], ids=["alone", "workers"])
def test_files_and_beds_are_counted_with_their_daemons(tmp_path: Path, options: tuple[str, ...]) -> None:
    # Collecting costs, too, and no test is charged with it.
    slow = f"import time\n\nwhile time.process_time() < {COLLECTING}:\n    pass\n\ndef test_c():\n    pass\n"
    suite(tmp_path, conftest=BED, test_one=ONE, test_two=slow)
    record = ran(tmp_path, *options)
    files, beds, run = record["files"], record["beds"], record["run"]
    assert {name: row["tests"] for name, row in files.items()} == {"tests/test_one.py": 2, "tests/test_two.py": 1}
    assert list(beds) == ["tests::bed"]  # what it stands on costs nothing
    bed, file = beds["tests::bed"], files["tests/test_one.py"]
    assert (bed["times"], bed["scope"]) == (1, "package")
    assert bed["down"] >= 0.6
    assert file["wall"] >= file["beds"] >= bed["up"]
    # Its end may come with the next file's last test.
    assert sum(row["beds"] for row in files.values()) >= bed["up"] + bed["down"]
    assert (run["tests"], run["files"], run["workers"]) == (3, 2, int(options[1]) if options else 1)
    assert run["cpu"] - run["in_tests"] >= COLLECTING / 2
    parents = cpu._parents(cpu.MOUNT, Path("/proc/self/cgroup").read_text())
    assert run["whole"] == any(os.access(parent, os.W_OK) for parent in parents)
    if run["whole"]:
        assert bed["cpu"] >= BURNT * 0.95
        assert run["in_tests"] >= bed["cpu"]
        assert run["in_tests"] >= file["cpu"] >= BURNT * 0.95


def test_what_a_run_had_not_stays_and_what_is_gone_goes(tmp_path: Path) -> None:
    suite(tmp_path, test_one="def test_a():\n    pass\n", test_two="def test_b():\n    pass\n")
    before = ran(tmp_path)
    after = ran(tmp_path, "--ignore", str(tmp_path / "tests/test_two.py"))
    assert after["files"]["tests/test_two.py"] == before["files"]["tests/test_two.py"]
    assert after["run"]["files"] == 1
    (tmp_path / "tests/test_two.py").unlink()
    assert list(ran(tmp_path)["files"]) == ["tests/test_one.py"]


def test_the_dearest_come_first_and_the_rest_is_summed() -> None:
    rows = {name: {"wall": wall, "tests": 2} for name, wall in (("cheap", 1.5), ("dear", 70.0), ("fair", 3.25))}
    assert times.table("file", rows, {"wall": "wall s", "tests": "tests"}, "wall", 1) == [
        "",
        "file   wall s    tests",
        "dear     70.0        2",
        "2 more      4.8        4",
    ]


def test_a_run_is_told_with_what_it_could_not_count() -> None:
    run = {"at": "2026-01-02T03:04:05+00:00", "wall": 100.0, "cpu": 150.0, "in_tests": 120.0, "cores": 2, "workers": 4}
    run |= {"files": 3, "tests": 9, "exit_status": 1, "whole": False}
    told = "\n".join(times.head(run))
    assert "9 tests of 3 files by 4 workers in 1 min 40 s, ended with 1" in told
    assert "CPU: 150 s, 75 % of what 2 cores had in that time; 30 s of it between tests" in told
    assert "CPU of daemons, which nobody waits for, is not counted" in told
    assert "not counted" not in "\n".join(times.head({**run, "whole": True}))


@pytest.mark.parametrize(
    ("told", "folder", "counter"),
    [
        ("5:memory:/m\n4:cpu,cpuacct:/a/b\n0::/\n", "cpu,cpuacct/a/b", "cpuacct.usage"),
        ("0::/user.slice/x\n", "user.slice/x", "cpu.stat"),
        ("9:pids:/\n0::/y\n", "unified/y", "cpu.stat"),
        ("9:pids:/\n0::/nowhere\n", "", ""),
    ],
    ids=["version 1", "version 2", "both", "none"],
)
def test_the_group_that_counts_is_found(tmp_path: Path, told: str, folder: str, counter: str) -> None:
    if folder:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / counter).touch()
    assert cpu._parents(tmp_path, told) == ([tmp_path / folder] if folder else [])


def test_a_meter_without_a_group_counts_those_it_waits_for(tmp_path: Path) -> None:
    meter = cpu.Meter(tmp_path)
    assert not meter.whole
    burn = f"import time\nwhile time.process_time() < {BURNT}: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert meter.seconds() >= BURNT * 0.95
    meter.close()


def test_the_makefile_runs_tests_with_it() -> None:
    test = (ROOT / "Makefile").read_text().partition("\ntest: ")[2].partition("\n\n")[0]
    assert "-p tests.support.times" in test

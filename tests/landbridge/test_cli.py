"""The real command: mistakes get one clear text and their exit code, and nothing is started for them."""

import contextlib
import errno
import fcntl
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from landbridge.errors import FAILED, USAGE
from landbridge.local import enter

ROOT = Path(__file__).parents[2]
FLEET = """\
fleet: small
owner: ops
domain: small.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a]}
teams:
  ops: {gid: 2000}
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET)
    assert run(tmp_path, "plan", "--write", "--fleet", str(path)).returncode == 0
    return path


def run(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "landbridge", *arguments],
        cwd=ROOT,
        env={**os.environ, "LANDBRIDGE_HOME": str(home / "home"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == USAGE, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_a_fleet_file_that_is_not_there(tmp_path: Path) -> None:
    refused(run(tmp_path, "up", "--fleet", "/nowhere/fleet.yaml"), "/nowhere/fleet.yaml", "--fleet FILE")


def test_a_wrong_fleet_file_is_told_before_the_local_cloud_is_started(tmp_path: Path, fleet: Path) -> None:
    fleet.write_text(FLEET.replace("zones: [a]", "zones: []"))
    refused(run(tmp_path, "up", "--local", "--fleet", str(fleet)), "fleet.yaml:7")
    assert not (tmp_path / "home/local/cloud.json").exists()


def test_a_stale_ledger_stops_up_and_names_the_remedy(tmp_path: Path, fleet: Path) -> None:
    fleet.write_text(FLEET.replace("zones: [a]", "zones: [a, b]"))
    refused(run(tmp_path, "up", "--local", "--fleet", str(fleet)), "landbridge plan --write")


def test_a_stack_that_the_fleet_does_not_have(tmp_path: Path, fleet: Path) -> None:
    refused(run(tmp_path, "up", "us-west-9", "--local", "--fleet", str(fleet)), "us-west-9", "Its stacks: us-west-2")


def test_real_clouds_need_a_place_for_the_state(tmp_path: Path, fleet: Path) -> None:
    refused(run(tmp_path, "up", "--fleet", str(fleet)), "`state` is missing", "s3://", "awskms://", "--local")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["up", "--frobnicate"], "--frobnicate"),
        (["frobnicate"], "frobnicate"),
        (["up", "--parallel", "0"], "--parallel"),
        (["up", "--allow-destroy", "many"], "--allow-destroy"),
        (["plan", "--write", "--check"], "exclude each other"),
        (["local", "exec"], "COMMAND"),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, arguments: list[str], word: str) -> None:
    refused(run(tmp_path, *arguments), word)


def test_machines_get_an_error_as_a_document(tmp_path: Path) -> None:
    done = run(tmp_path, "up", "--json", "--fleet", "/nowhere/fleet.yaml")
    assert done.returncode == USAGE
    told = json.loads(done.stdout)
    assert told["exit_code"] == USAGE
    assert "/nowhere/fleet.yaml" in told["error"]


@contextlib.contextmanager
def half_a_record(home: Path) -> Iterator[None]:
    """A local cloud's record that is held, and says nothing: no daemon writes that, and no command expects it."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "cloud.json").open("w") as record:
        record.write("{}")
        record.flush()
        fcntl.flock(record, fcntl.LOCK_EX)
        yield


def test_our_own_mistake_is_one_line_and_a_traceback_in_a_file(tmp_path: Path) -> None:
    with half_a_record(tmp_path / "home/local"):
        done = run(tmp_path, "local", "status")
    assert done.returncode == FAILED
    assert done.stderr.count("\n") == 1
    assert f"KeyError: 'way'. Its traceback: {tmp_path}/home/crash.log" in done.stderr
    assert "Traceback" in (tmp_path / "home/crash.log").read_text()


def test_our_own_mistake_is_told_even_if_its_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "home/crash.log").mkdir(parents=True)
    with half_a_record(tmp_path / "home/local"):
        done = run(tmp_path, "local", "status", TMPDIR=str(tmp_path))
    assert done.returncode == FAILED
    assert done.stderr.count("\n") == 1
    crash = Path(done.stderr.strip().rpartition("Its traceback: ")[2])
    assert crash.parent == tmp_path
    assert "KeyError" in crash.read_text()


@pytest.mark.parametrize(
    ("home", "command", "why"),
    [
        ("/proc/nothing", ["up", "--local"], "No such file or directory"),
        ("/proc", ["local", "exec", "true"], "No such file or directory"),
        ("{tmp}/file", ["status", "--local"], "there is a file in the place of a folder"),
        ("{tmp}/file", ["local", "status"], "there is a file in the place of a folder"),
        ("{tmp}/taken", ["up", "--local"], "there is a file in the place of a folder"),
        ("{tmp}/taken", ["local", "stop"], "there is a file in the place of a folder"),
    ],
)
def test_a_home_that_cannot_be_used_is_named_with_the_remedy(
    tmp_path: Path, fleet: Path, home: str, command: list[str], why: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/local").write_text("")
    place = home.format(tmp=tmp_path)
    done = run(tmp_path, *command, LANDBRIDGE_HOME=place, LANDBRIDGE_FLEET=str(fleet))
    refused(done, f"landbridge cannot use {place}", why, "LANDBRIDGE_HOME")
    assert done.stderr.count("\n") == 1


def test_machines_get_an_unusable_home_as_a_document(tmp_path: Path, fleet: Path) -> None:
    done = run(tmp_path, "status", "--local", "--json", LANDBRIDGE_HOME="/proc/nothing", LANDBRIDGE_FLEET=str(fleet))
    told = json.loads(done.stdout)
    assert told["exit_code"] == done.returncode == USAGE
    assert "LANDBRIDGE_HOME" in told["error"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_home_of_somebody_elses_is_told_and_other_files_are_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(enter, "HOME", tmp_path)
    file = tmp_path / "local/cloud.json"
    told = enter.unusable(OSError(number, os.strerror(number), str(file))) or ""
    assert f"{tmp_path} ({file})" in told
    assert os.strerror(number) in told
    assert enter.unusable(OSError(number, os.strerror(number), "/elsewhere/fleet.yaml")) is None
    assert enter.unusable(FileNotFoundError(errno.ENOENT, "gone", str(file))) is None, "that is our own mistake"
    assert enter.unusable(BrokenPipeError(errno.EPIPE, "Broken pipe")) is None


def test_check_judges_the_ledger_for_ci(tmp_path: Path, fleet: Path) -> None:
    assert run(tmp_path, "plan", "--check", "--fleet", str(fleet)).returncode == 0
    fleet.write_text(FLEET.replace("zones: [a]", "zones: [a, b]"))
    done = run(tmp_path, "plan", "--check", "--fleet", str(fleet))
    assert done.returncode == FAILED
    assert "region/us-west-2/zone/b" in done.stdout


def test_plan_shows_the_tree_and_what_would_change_and_write_settles_it(tmp_path: Path, fleet: Path) -> None:
    fleet.write_text(FLEET.replace("zones: [a]", "zones: [a, b]"))
    shown = run(tmp_path, "plan", "--fleet", str(fleet)).stdout
    assert "10.128.0.0/12" in shown
    assert "+ new      region/us-west-2/zone/b" in shown
    document = json.loads(run(tmp_path, "plan", "--json", "--fleet", str(fleet)).stdout)
    assert document["stale"]
    assert {change["kind"] for change in document["changes"]} == {"new"}
    assert document["prefixes"]["region/us-west-2/network"]["full"] == 0.25

    assert "commit it" in run(tmp_path, "plan", "--write", "--fleet", str(fleet)).stdout
    assert not json.loads(run(tmp_path, "plan", "--json", "--fleet", str(fleet)).stdout)["changes"]


def test_the_local_cloud_that_is_not_up_says_so(tmp_path: Path) -> None:
    done = run(tmp_path, "local", "status")
    assert (done.returncode, done.stdout.strip()) == (FAILED, "The local cloud is not up.")
    assert json.loads(run(tmp_path, "local", "status", "--json").stdout) == {"up": False}
    assert "was not up" in run(tmp_path, "local", "stop").stdout
    refused(run(tmp_path, "local", "logs"), "never been up")


COLOURED = """\
import click, sys
from landbridge import cli, commands
commands.landbridge = click.Command("landbridge", callback=lambda: click.secho("careful", fg="red"))
sys.argv = ["landbridge"]
cli.main()
"""


@pytest.mark.parametrize(("given", "shown"), [("", b"\x1b[31mcareful\x1b[0m\r\n"), ("1", b"careful\r\n")])
def test_no_color_is_kept_to_on_a_terminal(given: str, shown: bytes) -> None:
    ours, its = pty.openpty()
    subprocess.run([sys.executable, "-c", COLOURED], env={**os.environ, "NO_COLOR": given}, stdout=its, check=True)
    assert os.read(ours, 100) == shown
    os.close(its)
    os.close(ours)

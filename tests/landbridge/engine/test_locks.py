"""A lock is removed only when its process is gone from this very host."""

import json
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from landbridge.engine import locks

NOBODYS_MARK = "LANDBRIDGE_STACK=of no process"


def write(state: Path, pid: int, *, host: str | None = None, since: datetime | None = None) -> Path:
    folder = state / "locks/organization/landbridge/us-west-2"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{pid}.json"
    stamp = (
        (since or datetime.now(UTC)).isoformat(timespec="microseconds").replace("+00:00", "789Z")
    )  # Go's nanoseconds
    file.write_text(
        json.dumps({"pid": pid, "username": "ada", "hostname": host or socket.gethostname(), "timestamp": stamp})
    )
    return file


def clear(state: Path | None) -> list[str]:
    return locks.clear(state, "landbridge", "us-west-2", NOBODYS_MARK)


def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_a_lock_of_a_process_that_is_gone_is_removed_and_told(tmp_path: Path) -> None:
    file = write(tmp_path, gone())
    (note,) = clear(tmp_path)
    assert "ada on" in note
    assert not file.exists()


def test_a_lock_of_a_living_process_is_kept_and_names_its_holder(tmp_path: Path) -> None:
    file = write(tmp_path, os.getpid())
    with pytest.raises(locks.LockedError, match=rf"ada on \S+ \(process {os.getpid()}\) since "):
        clear(tmp_path)
    assert file.exists()


def test_a_lock_of_another_host_is_never_judged(tmp_path: Path) -> None:
    file = write(tmp_path, gone(), host="elsewhere.example.com")
    with pytest.raises(locks.LockedError, match=r"elsewhere\.example\.com"):
        clear(tmp_path)
    assert file.exists()


def test_a_number_that_passed_to_a_younger_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    write(tmp_path, os.getpid(), since=datetime.now(UTC) - timedelta(days=400))
    assert len(clear(tmp_path)) == 1


def test_a_zombie_holds_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has asked how
    write(tmp_path, process.pid)
    assert len(clear(tmp_path)) == 1
    process.wait()


def test_what_the_killed_process_had_started_ends_with_its_lock(tmp_path: Path) -> None:
    mark = f"LANDBRIDGE_STACK={tmp_path}"
    sleep = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
    name, _, value = mark.partition("=")
    ours = subprocess.Popen(sleep, env={**os.environ, name: value}, stdout=subprocess.PIPE)
    other = subprocess.Popen(sleep, env={**os.environ, name: value + "more"}, stdout=subprocess.PIPE)
    for process in (ours, other):
        assert process.stdout
        process.stdout.readline()
    locks.clear(tmp_path, "landbridge", "us-west-2", mark)
    assert ours.poll() is None, "without a stale lock nothing is touched"
    write(tmp_path, gone())
    locks.clear(tmp_path, "landbridge", "us-west-2", mark)
    assert ours.wait(5) < 0
    assert other.poll() is None
    other.kill()
    other.wait()


def test_half_written_state_goes_with_a_stale_lock_and_the_state_stays(tmp_path: Path) -> None:
    stacks = tmp_path / "stacks/landbridge"
    stacks.mkdir(parents=True)
    for name in ("us-west-2.json", "us-west-2.json.18e9fbb499ba4ea5.tmp", "eu-west-1.json.18e9fbb499ba4ea5.tmp"):
        (stacks / name).touch()
    write(tmp_path, gone())
    clear(tmp_path)
    assert sorted(file.name for file in stacks.iterdir()) == ["eu-west-1.json.18e9fbb499ba4ea5.tmp", "us-west-2.json"]


def test_backends_without_a_folder_have_no_locks_to_clear() -> None:
    assert clear(None) == []


def test_the_holder_is_read_from_pulumis_complaint() -> None:
    told = (
        "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the "
        "lock file with `pulumi cancel`.\n  s3://team-state/.pulumi/locks/organization/landbridge/us-west-2/0f.json: "
        "created by ada@build-7 (pid 4711) at 2026-11-21T06:20:38Z"
    )
    holder = locks.holder_in(told)
    assert holder is not None
    assert (holder.user, holder.host, holder.pid) == ("ada", "build-7", 4711)
    assert holder.since == datetime(2026, 11, 21, 6, 20, 38, tzinfo=UTC)
    assert not locks.stale(holder)
    assert locks.holder_in("error: something else") is None

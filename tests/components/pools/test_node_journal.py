"""A node's journal as lines for the collector of logs: by the real journalctl, of the real systemd-journald."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge.monitoring.kept_logs import nanoseconds
from local.machines import journalctl
from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)

import node_journal  # isort: skip

SCRIPTS = Path(node_journal.__file__).parent
JOURNALD = shutil.which("systemd-journald", path="/usr/lib/systemd:/lib/systemd")
# In a namespace of its own: a journal, programs that write into it, and twice the follower, who is killed between.
INSIDE = """
import os, socket, subprocess, sys, time
from pathlib import Path
journald, folder, script = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
Path("/run/systemd/journal").mkdir(parents=True), Path("/run/log/journal").mkdir(parents=True)
daemon = subprocess.Popen([journald])
line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log = Path(folder, "journal.log")

def until(what):
    deadline = time.monotonic() + 30
    while not what():
        assert time.monotonic() < deadline and daemon.poll() is None
        time.sleep(0.1)

def said(text):
    return log.exists() and text in log.read_text()

def connected():
    try:
        line.connect("/run/systemd/journal/socket")
        return True
    except OSError:
        return False

def followed(*entries, last):
    follower = subprocess.Popen([sys.executable, script, folder], start_new_session=True)
    for entry in entries:
        line.send(entry)
    until(lambda: said(last))
    if last != "third":
        until(lambda: Path(folder, "cursor").exists())
    os.killpg(follower.pid, 9)
    follower.wait()

until(connected)
line.send(b"MESSAGE=before it began\\n")
odd = b"two\\nlines\\xff"
followed(b"MESSAGE=first\\nUNIT=kubelet.service\\n", b"MESSAGE\\n%s%s\\n" % (len(odd).to_bytes(8, "little"), odd),
         b"MESSAGE=%s\\n" % (b"x" * 10000), last="x" * 10000)
line.send(b"MESSAGE=second, while it was away\\n")
followed(b"MESSAGE=third\\n", last="third")
daemon.terminate()
daemon.wait()
"""


@pytest.mark.skipif(JOURNALD is None, reason="no systemd-journald here")
def test_what_a_journal_has_is_laid_down_once_and_goes_on_after_a_break(tmp_path: Path) -> None:
    machine = SCRIPTS.parents[1] / "control_plane/on_machine"
    words = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", sys.executable]
    given = [*words, "-c", INSIDE, JOURNALD or "", str(tmp_path), str(SCRIPTS / "node_journal.py")]
    done = subprocess.run(
        given, env={**os.environ, "PYTHONPATH": str(machine)}, capture_output=True, text=True, check=False, timeout=90
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(one) for one in (tmp_path / "journal.log").read_text().splitlines() if one]
    said = [(one["unit"], one["msg"].split(" ", 3)[3]) for one in lines]
    assert said[0] == ("systemd-journald", "Journal started")
    # Who says it is process 1 there, as systemd is.
    assert [one for one in said if one[0] != "systemd-journald"] == [
        ("other", "before it began"),
        ("kubelet", "first"),
        ("other", "two\nlines\N{REPLACEMENT CHARACTER}"),
        ("other", "x" * 10000),
        ("other", "second, while it was away"),
        ("other", "third"),
    ]
    assert [nanoseconds(one["time"]) for one in lines] == sorted(nanoseconds(one["time"]) for one in lines)
    assert all(one["msg"].startswith(f"{one['time']} {one['unit']} F ") for one in lines)


@pytest.mark.parametrize(
    ("fields", "unit"),
    [
        ({"_SYSTEMD_UNIT": "kubelet.service", "_PID": "70"}, "kubelet"),
        # systemd speaks of a unit; somebody else only says so.
        ({"_SYSTEMD_UNIT": "init.scope", "UNIT": "kubelet.service", "_PID": "1"}, "kubelet"),
        ({"_SYSTEMD_UNIT": "evil.service", "UNIT": "kubelet.service", "_PID": "71"}, "evil"),
        ({"_TRANSPORT": "kernel"}, "kernel"),
        ({"_SYSTEMD_UNIT": ["one.service", "two.service"]}, "two"),
        ({"_SYSTEMD_UNIT": "session-3.scope"}, "session-3.scope"),
        ({}, "other"),
    ],
)
def test_whose_an_entry_is(fields: dict[str, Any], unit: str) -> None:
    assert node_journal.unit_of(fields) == unit


def entry(words: Any, number: int = 0) -> bytes:
    told = {
        "MESSAGE": words,
        "__REALTIME_TIMESTAMP": str(number),
        "__CURSOR": str(number),
        "_SYSTEMD_UNIT": "a.service",
    }
    return json.dumps(told).encode()


def test_an_entry_without_words_is_none_and_a_long_one_is_cut() -> None:
    assert [node_journal.line(json.loads(entry(words))) for words in (None, "")] == ["", ""]
    made = json.loads(node_journal.line(json.loads(entry("x" * 10**6, 1_700_000_000_000_001))))
    assert made["time"] == "2023-11-14T22:13:20.000001Z"
    assert len(made["msg"]) == node_journal.LONGEST + len(f"{made['time']} a F ")


def test_a_full_file_makes_room_and_none_of_its_lines_is_in_two(tmp_path: Path) -> None:
    kept = node_journal.Kept(tmp_path, most=250)
    for number in range(7):
        kept.take([entry(f"line {number}", number)])
    kept.keep()
    before, now = ((tmp_path / name).read_text().splitlines() for name in ("journal.log.1", "journal.log"))
    assert [[json.loads(one)["msg"][-1] for one in part] for part in (before, now)] == [["4", "5"], ["6"]]
    assert (tmp_path / "cursor").read_text() == "6"


def test_a_line_without_an_end_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / "journal.log").write_text('{"time": "2026-')
    node_journal.Kept(tmp_path).take([entry("after")])
    assert json.loads((tmp_path / "journal.log").read_text().splitlines()[-1])["msg"].endswith(" a F after")


def test_the_journalctl_of_local_machines_honours_what_the_follower_asks_for() -> None:
    given = [*node_journal.JOURNALCTL[1:], "--boot", "--after-cursor={}"]
    assert all(one in journalctl.OPTIONS or one.startswith((journalctl.FIELDS, journalctl.AFTER)) for one in given)

"""The signal before maintenance, sent by the probe's own program among real processes in a namespace of their own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from landbridge.experiments import checkpoint_signal, notice

from .test_manifest import container

HEARS = """\
import signal, sys, time
signal.signal(signal.{name}, lambda *_: print("checkpoint", flush=True))
print("ready", flush=True)
time.sleep(60)
"""
SCRIPT = """\
{python} {folder}/hears.py > {folder}/heard & sleep 1000 & other=$!
until grep -qs ready {folder}/heard; do sleep 0.02; done
for file in {files}; do MAINTENANCE_FILE=$file sh {folder}/look; echo "code $?"; sleep 0.1; done
kill -0 $other && echo "the other one goes on"
"""


def planned(left: str, start: str = "2026-11-30T22:00:00Z", name: str = "host-3-lab") -> str:
    return json.dumps({"maintenance": name, "left": left, "start": start, "why": 'new "NIC"'}, sort_keys=True)


def signalled(folder: Path, name: Any, *texts: str) -> tuple[list[str], str, list[str]]:
    """What looks at each text in turn did: their output, the container's own, and what the program heard."""
    (folder / "hears.py").write_text(HEARS.format(name=f"SIG{name}"))
    (folder / "look").write_text(checkpoint_signal.look(name))
    for number, text in enumerate(texts):
        (folder / f"file-{number}").write_text(text)
    files = " ".join(f"{folder}/file-{number}" for number in range(len(texts)))
    script = SCRIPT.format(python=sys.executable, folder=folder, files=files)
    done = subprocess.run(
        ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(folder)},
    )
    return done.stdout.splitlines(), done.stderr, (folder / "heard").read_text().splitlines()[1:]


@pytest.mark.parametrize("name", checkpoint_signal.SIGNALS)
def test_who_handles_it_gets_it_once_and_all_others_go_on(tmp_path: Path, name: str) -> None:
    out, err, heard = signalled(tmp_path, name, "", planned("1h"), planned("30m"), planned("15m"), planned("0m"))
    assert out == ["code 0"] * 5 + ["the other one goes on"]
    assert heard == ["checkpoint"]
    assert err.splitlines() == [f"landbridge: {name} to 1 processes: host-3-lab begins 2026-11-30T22:00:00Z"]


def test_a_plan_that_was_postponed_is_another_one(tmp_path: Path) -> None:
    later = planned("30m", "2026-12-01T00:00:00Z")
    _, err, heard = signalled(tmp_path, "USR1", planned("30m"), planned("2h", "2026-12-01T00:00:00Z"), later)
    assert heard == ["checkpoint", "checkpoint"]
    assert err.splitlines()[-1].endswith("host-3-lab begins 2026-12-01T00:00:00Z")


def test_hosts_with_gpus_are_told_and_only_when_that_was_asked_for() -> None:
    made = {name: container("mpi", name, checkpoint_signal="USR1") for name in ("launcher", "worker")}
    assert "readinessProbe" not in made["launcher"]
    assert "kill -s USR1 " in made["worker"]["readinessProbe"]["exec"]["command"][-1]
    assert {"name": notice.VARIABLE, "value": notice.FILE} in made["worker"]["env"]
    assert "readinessProbe" not in container("mpi", "worker")

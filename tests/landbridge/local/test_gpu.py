"""What `landbridge local gpu` writes onto a machine's disk, and what its GPUs are like by that."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from landbridge.commands import local_gpu
from landbridge.errors import UsageError
from local.workers.hardware import FILE
from local.workers.played import state


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a machine with two GPUs."""
    folder = tmp_path / "disk" / FILE.parent.relative_to("/")
    folder.mkdir(parents=True)
    (folder / FILE.name).write_text(json.dumps({"gpus": 2}))
    monkeypatch.setenv(state.FOLDER, str(folder))
    monkeypatch.setattr(local_gpu.client, "status", lambda _: "up")
    monkeypatch.setattr(local_gpu.client, "machine", lambda *_: {"folder": str(tmp_path)})
    return folder


def run(*words: str) -> Any:
    return CliRunner().invoke(local_gpu.gpu, ["worker-1", *words], catch_exceptions=False, standalone_mode=False)


def test_what_ails_a_gpu_adds_up_until_it_is_well(disk: Path) -> None:
    run("1", "--xid=63", "--heat=91")
    run("1", "--xid=79", "--lost")
    assert state.fault(1) == {"gpu_c": 91, "lost": True, "xids": [63, 79]}
    assert (state.figures(1)["gpu_c"], state.figures(0)["gpu_c"]) == (91, 36)
    told = json.loads(run("0", "--double-bit=2", "--remap-failed", "--json").output)
    assert told == {"machine": "worker-1", "gpu": 0, "ails": {"double_bit": 2, "remap_failed": 1, "xids": []}}
    assert run("1", "--well").output == "GPU 1 of worker-1: what ails it is nothing.\n"
    assert (state.fault(1), state.figures(0)["remap_failed"]) == ({}, 1)
    assert (disk / state.FAULTS).stat().st_mode & 0o777 == 0o644, "the exporter is not root"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("0",), "Say what ails it"),
        (("0", "--lost", "--well"), "Say what ails it"),
        (("2", "--lost"), "worker-1 has GPUs 0 to 1: there is no GPU 2"),
    ],
)
def test_what_can_not_be_is_said(disk: Path, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        run(*words)
    assert not (disk / state.FAULTS).exists()


def test_a_machine_without_gpus_has_none_that_fail(disk: Path) -> None:
    (disk / FILE.name).unlink()
    with pytest.raises(UsageError, match="has no GPUs"):
        run("0", "--lost")

"""What local machines have for work on disks."""

import json
from pathlib import Path

import pytest

from local.machines import disk

ZERO = ["blkdiscard", "--force", "--zeroout", "--length", "1MiB"]


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/file").write_text("kept")
    (tmp_path / disk.RECORD).write_text(json.dumps({"id": "vol-1", "type": "ext4"}))
    return tmp_path


def test_a_disk_whose_beginning_is_zeroed_is_blank(volume: Path) -> None:
    assert disk.main([*ZERO, str(volume)]) == 0
    assert disk.main(["blkid", "-o", "value", "-s", "TYPE", str(volume)]) == disk.UNKNOWN
    assert list((volume / "data").iterdir()) == []
    assert disk.main(["mkfs.ext4", "-q", str(volume)]) == 0


def test_other_calls_of_blkdiscard_are_refused(
    volume: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert disk.main(["blkdiscard", str(volume)]) == 1
    assert "Local machines honour: blkdiscard --force" in capsys.readouterr().err
    assert disk.main([*ZERO, str(volume / "data")]) == 1
    assert "is no volume" in capsys.readouterr().err
    monkeypatch.setattr(disk, "in_use", lambda _device: True)
    assert disk.main([*ZERO, str(volume)]) == 1
    assert "is mounted" in capsys.readouterr().err
    assert (volume / "data/file").read_text() == "kept"

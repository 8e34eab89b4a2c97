"""`landbridge grafana` writes files, says where they are, and what is wrong with a folder."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from landbridge.commands import landbridge
from landbridge.dashboards.grafana import BOARDS
from landbridge.errors import UsageError

NAMES = [f"{board.uid}.json" for board in BOARDS]


def told(*words: str | Path) -> Result:
    return CliRunner().invoke(landbridge, ["grafana", *map(str, words)])


def test_it_needs_no_fleet_and_makes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = told("--output", "new/folder")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "new/folder").iterdir()) == sorted(NAMES)
    for board, name in zip(BOARDS, NAMES, strict=True):
        assert f"new/folder/{name}: {board.says}\n" in done.stdout
        assert json.loads((tmp_path / "new/folder" / name).read_text())["uid"] == board.uid
    assert "In Grafana (10.1 or newer): Dashboards, New, Import" in done.stdout


def test_a_second_run_replaces_what_the_first_wrote_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / NAMES[0]).write_text("old")
    (tmp_path / "mine.json").write_text("mine")
    assert told("--output", tmp_path).exit_code == 0
    assert json.loads((tmp_path / NAMES[0]).read_text())["uid"] == BOARDS[0].uid
    assert (tmp_path / "mine.json").read_text() == "mine"


def test_programs_hear_of_the_files(tmp_path: Path) -> None:
    document = json.loads(told("--output", tmp_path, "--json").stdout)
    assert document == {
        "dashboards": [
            {"uid": board.uid, "title": board.title, "file": str(tmp_path / name)}
            for board, name in zip(BOARDS, NAMES, strict=True)
        ]
    }


def test_a_folder_must_be_named() -> None:
    done = told()
    assert done.exit_code == 2
    assert "Missing option '--output'" in done.output


@pytest.mark.parametrize("below", ["", "folder"])
def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    done = told("--output", file / below)
    assert isinstance(done.exception, UsageError)
    path = str(file / below)
    said = f"{path} can't be written: there is a file in the place of a folder. Name another folder with --output."
    assert str(done.exception) == said
    assert file.read_text() == "mine"


def test_what_can_t_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / NAMES[0]).mkdir()
    done = told("--output", tmp_path)
    assert isinstance(done.exception, UsageError)
    assert (
        str(done.exception)
        == f"{tmp_path / NAMES[0]} can't be written: Is a directory. Name another folder with --output."
    )

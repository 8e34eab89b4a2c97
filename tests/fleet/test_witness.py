"""What a program reads stands in its witness's file, and what nobody can account for stands there as that."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet import witness

ROOT = Path(__file__).parents[2]
PROGRAM = "from fleet import witness\nwitness.begin()\nimport os, pathlib, socket, subprocess\n{}\n"


def lines(folder: Path, code: str, **variables: str) -> list[Any]:
    """What a program of these lines, run in a folder, leaves in the file; less what `import` and Python's start look at."""
    file = folder / "reads"
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(code)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), witness.ENVIRONMENT: str(file), "PYTHONSAFEPATH": "1", **variables},
        check=True,
    )
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize(
    "code",
    ["open('a').read()", "pathlib.Path('a').read_bytes()", "os.read(os.open('a', os.O_RDONLY), 9)", "open('a', 'r+')"],
)
def test_a_file_stands_there_with_a_digest_of_what_was_in_it(code: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("word")
    told = witness.digest_of_file(str(tmp_path / "a"))
    assert told
    assert [witness.FILE, str(tmp_path / "a"), told] in lines(tmp_path, code)
    assert "word" not in (tmp_path / "reads").read_text()


@pytest.mark.parametrize(
    "code",
    ["os.path.exists('a')", "pathlib.Path('a').exists()", "os.path.isfile('a')", "os.path.islink('a')"],
)
def test_whether_something_is_there_stands_there(code: str, tmp_path: Path) -> None:
    assert [witness.STAT, str(tmp_path / "a"), ""] in lines(tmp_path, code)
    (tmp_path / "a").touch()
    (tmp_path / "reads").unlink()
    assert [witness.STAT, str(tmp_path / "a"), witness.THERE] in lines(tmp_path, code)


@pytest.mark.parametrize(
    "code", ["os.environ.get('ASKED')", "os.environ['ASKED']", "os.getenv('ASKED')", "'ASKED' in os.environ"]
)
def test_a_variable_stands_there_by_its_name_alone(code: str, tmp_path: Path) -> None:
    assert [witness.VARIABLE, "ASKED", ""] in lines(tmp_path, code, ASKED="word")
    assert "word" not in (tmp_path / "reads").read_text()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("socket.create_connection(('127.0.0.1', 9))", "a connection: ('127.0.0.1', 9)"),
        ("subprocess.run(['true'])", "a program: true"),
        ("os.system('true')", "a program: b'true'"),
        ("os.listdir('.')", "a folder: {here}"),
        ("list(os.scandir('.'))", "a folder: {here}"),
        ("list(pathlib.Path('.').glob('*'))", "a folder: {here}"),
    ],
)
def test_what_nobody_can_account_for_is_unknown(code: str, told: str, tmp_path: Path) -> None:
    tried = f"try:\n    {code}\nexcept OSError:\n    pass"
    assert [witness.UNKNOWN, told.format(here=tmp_path), ""] in lines(tmp_path, tried)


def test_code_and_the_kernel_s_own_files_and_what_is_written_are_none(tmp_path: Path) -> None:
    code = f"open({str(ROOT / 'fleet/reads.py')!r}); open('/dev/null'); open('new', 'w')\nimport wave"
    assert [line for line in lines(tmp_path, code) if line[0] != witness.VARIABLE] == []


def test_the_repository_s_other_files_are_no_code(tmp_path: Path) -> None:
    told = lines(tmp_path, f"open({str(ROOT / 'fleet.yaml')!r}); os.path.exists({str(ROOT / 'fleet.pki.yaml')!r})")
    assert [witness.FILE, str(ROOT / "fleet.yaml"), witness.digest_of_file(str(ROOT / "fleet.yaml"))] in told
    assert [witness.STAT, str(ROOT / "fleet.pki.yaml"), ""] in told


def test_a_second_read_is_no_second_line(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    told = lines(tmp_path, "open('a'); open('a')")
    assert len([one for one in told if one[0] == witness.FILE]) == 1


def test_nobody_asked(tmp_path: Path) -> None:
    code = "from fleet import witness; witness.begin(); assert witness.here is None"
    env = {name: value for name, value in os.environ.items() if name != witness.ENVIRONMENT}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=True)

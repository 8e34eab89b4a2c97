"""`-q` and `-v` with the real command and the real engine: progress, the result, and what was called."""

import re
from pathlib import Path

import pytest

from tests.landbridge.test_cli import FLEET, run


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loudness")
    path = folder / "fleet.yaml"
    path.write_text(f"{FLEET}state: {{backend: 'file://{folder}', secrets: passphrase}}\n")
    assert run(folder, "--fleet", str(path), "plan", "--write").returncode == 0
    return path


@pytest.mark.parametrize(
    ("words", "progress", "calls"),
    [
        (("status",), True, False),
        (("-q", "status"), False, False),
        (("status", "-q"), False, False),
        (("-v", "status"), True, True),
    ],
)
def test_a_status(fleet: Path, words: tuple[str, ...], progress: bool, calls: bool) -> None:
    done = run(fleet.parent, *words, LANDBRIDGE_FLEET=str(fleet), PULUMI_CONFIG_PASSPHRASE="example")
    assert done.returncode == 0
    assert re.search(r"^us-west-2 +never up", done.stdout, re.MULTILINE)
    assert bool(re.search(r"^\d\d:\d\d:\d\d us-west-2: done", done.stdout, re.MULTILINE)) is progress
    told = re.findall(r"^\d\d:\d\d:\d\d +\d+\.\d\d s  \S*pulumi version$", done.stderr, re.MULTILINE)
    assert bool(told) is calls
    assert (done.stderr == "") is not calls
    assert "example" not in done.stderr.replace("example.com", "")


def test_errors_are_told_all_the_same(fleet: Path) -> None:
    done = run(fleet.parent, "-q", "status", "us-west-9", LANDBRIDGE_FLEET=str(fleet), PULUMI_CONFIG_PASSPHRASE="x")
    assert done.returncode == 2
    assert "us-west-9" in done.stderr
    assert done.stdout == ""

"""`landbridge --help` imports no command: what each does is said in lines that are compared with the commands' own."""

import json
import subprocess
import sys
from pathlib import Path

import click
import click.testing
import pytest

from landbridge.commands import COMMANDS, landbridge
from landbridge.commands.lines import LINES

ROOT = Path(__file__).parents[2]
TOLD = """
import json, runpy, sys
sys.argv = ["landbridge", *sys.argv[1:]]
try:
    runpy.run_module("landbridge", run_name="__main__", alter_sys=True)
except SystemExit:
    print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("words", [["--help"], ["frobnicate"]])
def test_help_imports_click_and_nothing_more(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TOLD, *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    large = {"pulumi", "boto3", "botocore", "azure", "pydantic", "rich", "ruamel", "cryptography", "grpc", "moto"}
    assert not large & {name.partition(".")[0] for name in loaded}
    assert [name for name in loaded if name.startswith("landbridge.commands.")] == ["landbridge.commands.lines"]


def test_lines_are_those_of_the_commands() -> None:
    assert list(LINES) == list(COMMANDS)
    context = click.Context(landbridge)
    for name, line in LINES.items():
        command = landbridge.get_command(context, name)
        assert command
        for room in (45, 80, 1000):
            assert click.Command(name, help=line).get_short_help_str(room) == command.get_short_help_str(room)


def test_help_shows_every_command() -> None:
    shown = click.testing.CliRunner().invoke(landbridge, ["--help"]).output
    assert [name for name in COMMANDS if f"\n  {name} " not in shown] == []

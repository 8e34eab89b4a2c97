"""With NO_COLOR nothing that a command prints on a terminal has a style; without it there are some."""

import ast
import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.landbridge.test_whole import COMMANDS

ROOT = Path(__file__).parents[2]
# One process for all: what takes time is to import the commands.
EACH = """\
import json, sys
from landbridge import cli
for words in json.loads(sys.argv[1]):
    sys.argv = ["landbridge", *words]
    cli.code_of()
"""
FLEET = ["--fleet", str(ROOT / "fleet.yaml")]
OUTPUTS = [
    ["trace", "lab", "us-west-2", *FLEET],
    ["trace", "nowhere", "us-west-2", *FLEET],
    ["prices", *FLEET],
    ["plan", *FLEET],
    ["local", "status"],
    ["local", "machines"],
    ["kubeconfig", "--as", "me", "--machine", "x"],
    ["up", "--frobnicate"],
]


def shown(lines: list[list[str]], home: Path, **environment: str) -> bytes:
    """What comes out at a terminal, of stdout and of stderr."""
    ours, its = pty.openpty()
    read = list[bytes]()

    def reading() -> None:
        while True:
            try:
                some = os.read(ours, 65536)
            except OSError:
                return
            if not some:
                return
            read.append(some)

    reader = threading.Thread(target=reading)
    reader.start()
    given = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    given |= {"TERM": "xterm-256color", "LANDBRIDGE_HOME": str(home), **environment}
    command = [sys.executable, "-c", EACH, json.dumps(lines)]
    subprocess.run(command, cwd=ROOT, env=given, stdin=its, stdout=its, stderr=its, timeout=300, check=True)
    os.close(its)
    reader.join(10)
    os.close(ours)
    return b"".join(read)


@pytest.mark.parametrize(("given", "styled"), [({"NO_COLOR": "1"}, False), ({}, True), ({"NO_COLOR": ""}, True)])
def test_outputs(tmp_path: Path, given: dict[str, str], styled: bool) -> None:
    text = shown(OUTPUTS, tmp_path, **given)
    assert b"does not arrive" in text or b"arrives" in text
    assert b"southcentralus" in text
    assert (b"\x1b" in text) is styled


def test_the_help_of_every_command(tmp_path: Path) -> None:
    text = shown([[*name, "--help"] for name in COMMANDS], tmp_path, NO_COLOR="1")
    assert text.count(b"Usage: landbridge") == len(COMMANDS)
    assert b"\x1b" not in text


def test_every_console_is_one_that_keeps_to_it() -> None:
    """One that writes into a text is no terminal."""
    made = [
        (path.relative_to(ROOT).as_posix(), {keyword.arg for keyword in node.keywords})
        for path in sorted((ROOT / "landbridge").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console"
    ]
    assert any(name == "landbridge/output.py" for name, _ in made)
    assert [name for name, keywords in made if name != "landbridge/output.py" and "file" not in keywords] == []

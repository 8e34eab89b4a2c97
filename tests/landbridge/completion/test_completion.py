"""What Tab offers, in a real shell, how long that takes, and that no parameter of any command was forgotten."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

from fleet.loader import load
from landbridge.commands import landbridge
from landbridge.completion import answer, completers, fleet_names, seen_runs, tree
from stacks.catalogue import catalogue

ROOT = Path(__file__).parents[3]
FLEETS = [
    ROOT / "fleet.yaml",
    *sorted((ROOT / "tests/fleet/good").glob("*.yaml")),
    *(ROOT / "examples").glob("*/fleet.yaml"),
]
# Measured on a machine that does other things as well.
CPU_SECONDS = 0.4


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LANDBRIDGE_FLEET", str(ROOT / "fleet.yaml"))
    return tmp_path / "cache"


def texts(
    command: click.Command, words: str, context: click.Context | None = None
) -> Iterator[tuple[str, click.Parameter]]:
    """Every parameter of the tree that takes a text of one's own."""
    here = click.Context(command, info_name=words, parent=context)
    yield from (
        (here.command_path, one)
        for one in command.params
        if type(one.type) in (type(click.STRING), type(click.UNPROCESSED))
    )
    if isinstance(command, click.Group):
        for name in command.list_commands(here):
            found = command.get_command(here, name)
            assert found
            yield from texts(found, name, here)


def test_every_parameter_is_completed_or_known_to_be_free() -> None:
    known = {*completers.COMPLETED, *completers.FREE}
    every = [(words, completers.label(one)) for words, one in texts(landbridge, "landbridge")]
    assert len(every) > 100
    assert [f"{words} {label}" for words, label in every if label not in known] == []
    assert known - {label for _, label in every} == set(), "none has these any more"
    assert not set(completers.COMPLETED) & completers.FREE


@pytest.mark.golden
def test_the_tree_is_that_of_the_commands() -> None:
    assert tree.FILE.read_text() == tree.written(landbridge), "make golden"


def offered(line: str, shell: str = "bash", **environment: str) -> list[str]:
    """By the whole command line, as a shell's script asks it."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), answer.VARIABLE: f"{shell}_complete"}
    done = subprocess.run(
        [sys.executable, "-m", "landbridge"],
        cwd=ROOT,
        env={**os.environ, **asked, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("path", FLEETS, ids=lambda path: str(path.relative_to(ROOT)))
def test_stacks_are_those_of_the_catalogue(path: Path) -> None:
    raw = fleet_names.names(YAML(typ="safe", pure=True).load(path.read_text()))
    assert raw["stacks"] == [stack.name for stack in catalogue(load(path))]


def complete(*words: str) -> list[str]:
    *before, incomplete = words
    return [item.value for item in answer.of_shell("bash").get_completions(list(before), incomplete)]


def test_values_of_all_kinds() -> None:
    seen_runs.note(ROOT / "fleet.yaml", ["train-7"])
    kinds = {
        ("up", "us-w"): ["us-west-2", "us-west-2-laptops"],
        ("cluster", "roll", ""): ["main"],
        ("status", "--fleet", str(ROOT / "fleet.yaml"), "east"): ["east-gpu"],
        ("pool", "roll", "s"): ["site-gpu", "south-gpu", "system"],
        ("site", "enrol", ""): ["lab"],
        ("site", "enrol", "lab", "host-8"): ["host-8"],
        ("runs", "show", "t"): ["train-7"],
        ("queue", "--team", ""): ["platform", "research"],
        ("why", "run/"): ["run/train-7"],
        ("access", "grant", "b"): ["bob"],
        ("kubeconfig", "--context", ""): ["example-main"],
        ("etcd", "status", "--ring", ""): ["main", "events"],
        ("compl",): ["completion"],
        ("completion", "z"): ["zsh"],
        ("freeze", "--w"): ["--why"],
    }
    assert {words: complete(*words) for words in kinds} == kinds


def test_a_file_that_is_being_written_has_names_too(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text("fleet: f\nclusters: {one: {}, two: }\npools: [broken]\nteams:\n")
    assert complete("cluster", "roll", "--fleet", str(file), "") == ["one", "two"]
    file.write_text("fleet: f\nclusters: {three: {}}\n")
    assert complete("cluster", "roll", "--fleet", str(file), "") == ["three"]


def test_runs_are_those_seen_last_newest_first(tmp_path: Path) -> None:
    seen_runs.note(tmp_path, ["b", "a"])
    seen_runs.note(tmp_path, ["c", "b"])
    assert seen_runs.of(tmp_path) == ["c", "b", "a"]
    assert seen_runs.of(tmp_path / "other") == []


@pytest.mark.parametrize("text", ["{broken", "- a list", "\0"])
def test_an_error_is_silent(tmp_path: Path, text: str) -> None:
    (tmp_path / "fleet.yaml").write_text(text)
    assert offered("landbridge cluster roll ", LANDBRIDGE_FLEET=str(tmp_path / "fleet.yaml")) == []


def test_nothing_large_is_imported_and_it_is_quick() -> None:
    code = "import sys, runpy\ntry: runpy.run_module('landbridge', run_name='__main__')\nexcept SystemExit: print(*sys.modules)"
    asked = {"COMP_WORDS": "landbridge up us", "COMP_CWORD": "2", answer.VARIABLE: "bash_complete"}
    complete("up", "")  # the names are kept now
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "plain,us-west-2\n" in done.stdout
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pulumi", "boto3", "botocore", "azure", "pydantic", "rich", "ruamel", "cryptography", "grpc"}
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < CPU_SECONDS


# What a person does: they load the script, type, and press Tab. The shell says what stands in its reply.
BASH = """
source <("$0" completion bash)
complete -p landbridge
COMP_WORDS=(landbridge site enrol lab host-8) COMP_CWORD=4
_landbridge_completion landbridge
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
autoload -Uz compinit && compinit -u -d "$ZDOTDIR/dump"
source <("$0" completion zsh)
print ${_comps[landbridge]}
"""
FISH = """
$argv[1] completion fish | source
complete --do-complete 'landbridge site enrol lab host-8'
"""


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> str:
    """The command as it is installed, first on the PATH."""
    folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return str(folder / "landbridge")


def said(*words: str) -> str:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True).stdout


def test_bash_completes(path: str) -> None:
    lines = said("bash", "--norc", "-c", BASH, path).splitlines()
    assert "_landbridge_completion" in lines[0]
    assert lines[1:] == ["host-8"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_takes_the_script(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZDOTDIR", str(tmp_path))
    assert said("zsh", "-f", "-c", ZSH, path).split() == ["_landbridge_completion"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(path: str) -> None:
    assert said("fish", "--no-config", "-c", FISH, path).split() == ["host-8"]


@pytest.mark.parametrize(("shell", "words"), [("zsh", ["plain", "host-8", "_"]), ("fish", ["plain,host-8"])])
def test_other_shells_are_answered_in_their_form(shell: str, words: list[str]) -> None:
    line = "landbridge site enrol lab host-8"
    assert offered(line, shell, COMP_CWORD="host-8" if shell == "fish" else "4") == words

"""Options of the whole command: at every command, before its name and after it, from the environment and a setting."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from landbridge import command_line, loudness, whole
from landbridge.commands import landbridge
from landbridge.errors import UsageError
from landbridge.local import meant

CONTEXT = click.Context(landbridge, info_name="landbridge")


def tree(command: click.Command, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words, groups too."""
    yield name, command
    if isinstance(command, click.Group):
        for child in command.list_commands(CONTEXT):
            found = command.get_command(CONTEXT, child)
            assert found
            yield from tree(found, (*name, child))


COMMANDS = dict(tree(landbridge))
LEAVES = {name: one for name, one in COMMANDS.items() if not isinstance(one, click.Group)}


@pytest.fixture(autouse=True)
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (meant.VARIABLE, "LANDBRIDGE_FLEET"):
        monkeypatch.delenv(name, raising=False)


def told(monkeypatch: pytest.MonkeyPatch, name: tuple[str, ...], *line: str) -> dict[str, Any]:
    """What a command is given for a command line, without what it does with that."""
    leaf, given = LEAVES[name], dict[str, Any]()
    with monkeypatch.context() as patch:
        patch.setattr(leaf, "callback", lambda **params: given.update(params))
        for parameter in leaf.params:
            patch.setattr(parameter, "required", False)
        landbridge.main([*line], prog_name="landbridge", standalone_mode=False)
    return given


def test_there_are_commands() -> None:
    assert len(LEAVES) > 70
    assert {("status",), ("links", "check"), ("pool", "list"), ("trace",), ("local", "host", "run")} <= set(LEAVES)


@pytest.mark.parametrize("name", LEAVES, ids=" ".join)
def test_each_takes_local_and_fleet_before_and_after(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: tuple[str, ...]
) -> None:
    wants = {parameter.name for parameter in LEAVES[name].params if parameter.expose_value}
    fleet = tmp_path / "fleet.yaml"
    words = ("--local", "--fleet", str(fleet))
    for line in ((*words, *name), (*name, *words), (*name[:1], *words, *name[1:]), ("--no-local", *name, *words)):
        given = told(monkeypatch, name, *line)
        assert given.get("local", "no word of it") is (True if "local" in wants else "no word of it")
        assert given.get("fleet_file") == (fleet if "fleet_file" in wants else None)
    if "local" in wants:
        assert not told(monkeypatch, name, "--local", *name, "--no-local")["local"]
        assert not told(monkeypatch, name, *name, "--fleet", str(fleet))["local"]
        (tmp_path / meant.FILE).write_text("local: true\n")
        assert told(monkeypatch, name, "--fleet", str(fleet), *name)["local"]
        monkeypatch.setenv(meant.VARIABLE, "0")
        assert not told(monkeypatch, name, *name, "--fleet", str(fleet))["local"]


@pytest.mark.parametrize("name", COMMANDS, ids=lambda name: " ".join(name) or "landbridge")
def test_no_command_has_a_meaning_of_its_own_for_these(name: tuple[str, ...]) -> None:
    written = {one for declared, _ in whole.DECLARED.values() for text in declared for one in text.split("/")}
    others = [one for one in COMMANDS[name].params if not isinstance(one, whole.WholeOption)]
    assert not {text for one in others for text in (*one.opts, *one.secondary_opts)} & written
    foreign = whole.foreign("verbose", COMMANDS[name])
    missing = set() if not foreign else {"verbose", "quiet"}
    assert {one.name for one in COMMANDS[name].params} >= set(whole.DECLARED) - missing


@pytest.mark.parametrize(
    ("line", "rest"),
    [("runs again sweep -v -q", ("-v", "-q")), ("kubectl -v=6 get", ("-v=6", "get")), ("local exec -v", ("-v",))],
)
def test_what_goes_to_another_program_is_left_to_it(monkeypatch: pytest.MonkeyPatch, line: str, rest: Any) -> None:
    name = next(name for name in LEAVES if tuple(line.split())[: len(name)] == name)
    given = told(monkeypatch, name, *line.split())
    assert rest in given.values()


def test_help_says_what_is_ignored() -> None:
    def said(*name: str) -> str:
        return " ".join((COMMANDS[name].epilog or "").split())

    assert said("grafana").endswith("--local and --fleet change nothing here.")
    assert said("trace").endswith("--local changes nothing here.")
    assert "nothing here" not in said("status") + said("pool")
    assert said("kubectl").startswith("-v and -q stand before the command's name")


@pytest.mark.parametrize(("word", "counts"), [("1", True), ("yes", True), ("0", False), ("off", False), ("", None)])
def test_the_variable_goes_before_the_setting(tmp_path: Path, word: str, counts: bool | None) -> None:
    for setting in (True, False):
        (tmp_path / meant.FILE).write_text(f"local: {str(setting).lower()}\n")
        found = meant.local(None, tmp_path / "fleet.yaml", {meant.VARIABLE: word})
        assert found is (setting if counts is None else counts)


def test_a_variable_that_says_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"LANDBRIDGE_LOCAL is 'maybe'.*LANDBRIDGE_LOCAL=1"):
        meant.local(None, tmp_path / "fleet.yaml", {meant.VARIABLE: "maybe"})


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        ("local: perhaps\n", ":1", "`local` is neither true nor false"),
        ("# mine\nlocal: true\nfleet: x\n", ":3", "there is no setting fleet"),
        ("- local\n", ":1", "these are no settings"),
        ("local: {\n", ":2", "it can't be read"),
        ("", ":1", "these are no settings"),
        ("{}\n", ":1", "these are no settings"),
    ],
)
def test_a_wrong_setting_is_told_with_its_line(tmp_path: Path, text: str, where: str, why: str) -> None:
    file = tmp_path / meant.FILE
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        meant.local(None, tmp_path / "fleet.yaml", {})
    assert f"{file}{where}: {why}" in str(refused.value)
    assert "Write `local: true`" in str(refused.value)


def test_without_a_fleet_file_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert not meant.local(None, None, {})


@pytest.mark.parametrize(
    ("line", "local", "fleet", "command"),
    [
        ("status --local", True, None, "status"),
        ("--local status", True, None, "status"),
        ("--local -vv --fleet a.yaml up --fleet=b.yaml --no-local", False, "b.yaml", "up"),
        ("-q --fleet=a.yaml run -- train --local --fleet c", None, "a.yaml", "run"),
        ("status", None, None, "status"),
    ],
)
def test_the_look_ahead_sees_what_click_will(line: str, local: bool | None, fleet: str | None, command: str) -> None:
    found = command_line.taken_apart(line.split())
    assert found
    assert found.command == command
    assert command_line.local(found.own) is local
    assert command_line.fleet(found.own) == (Path(fleet) if fleet else None)


@pytest.mark.parametrize("line", ["", "--help", "--version", "--lokal up", "--fleet", "--local"])
def test_the_look_ahead_leaves_the_rest_to_click(line: str) -> None:
    assert command_line.taken_apart(line.split()) is None


def test_the_look_ahead_knows_every_option_of_the_whole_command() -> None:
    for parameter in landbridge.params:
        if isinstance(parameter, whole.WholeOption):
            for text in (*parameter.opts, *parameter.secondary_opts):
                words = [text] if parameter.is_flag or parameter.count else [text, "value"]
                found = command_line.taken_apart([*words, "status"])
                assert found == command_line.CommandLine(tuple(words), "status", ())


def test_more_and_less_exclude_each_other_and_end_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for line in (["-v", "-q", "plan"], ["-v", "plan", "-q"]):
        with pytest.raises(click.UsageError, match="exclude each other"):
            landbridge.main(line, standalone_mode=False)
    seen = []
    monkeypatch.setattr(COMMANDS["grafana",], "callback", whole.loud(lambda **_: seen.append(loudness.quiet())))
    for line in (["-q", "grafana"], ["grafana", "-q"], ["grafana"]):
        landbridge.main([*line, "-o", "x"], standalone_mode=False)
    assert seen == [True, True, False]
    assert not loudness.quiet()


def test_output_is_said_the_same_everywhere() -> None:
    found = {
        name: parameter
        for name, command in COMMANDS.items()
        for parameter in command.params
        if "--output" in parameter.opts or "-o" in parameter.opts
    }
    assert len(found) >= 8
    for name, parameter in found.items():
        assert isinstance(parameter, click.Option)
        assert parameter.opts == ["--output", "-o"], name
        what = {"FILE": "The file to write", "FOLDER": "The folder to write"}[str(parameter.metavar)]
        dash = ", - for standard output" if isinstance(parameter.type, click.Path) and parameter.type.allow_dash else ""
        begins = f"{what}{dash}." + ("" if parameter.required else "  [default: ")
        assert (parameter.help or "").startswith(begins), name


def test_json_is_said_the_same_everywhere() -> None:
    said = {one.help for command in COMMANDS.values() for one in command.params if "--json" in one.opts}
    assert len(said) == 1

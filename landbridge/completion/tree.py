"""All commands with their parameters as data, so that Tab imports none of them: written by `make golden`.

`python -m landbridge.completion.tree` prints what tree.json has to be.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from .completers import completer, label

FILE = Path(__file__).with_name("tree.json")
ROOT = "landbridge"
# How a command takes words apart, where it differs.
SETTINGS = ("ignore_unknown_options", "allow_interspersed_args")
Row = dict[str, Any]


def rows(command: click.Command, name: str = ROOT, parent: click.Context | None = None) -> Iterator[Row]:
    """A command and all below it: its words, the first line of its help, its parameters."""
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    row: Row = {"words": context.command_path, "help": command.get_short_help_str(1000)}
    if settings := {key: command.context_settings[key] for key in SETTINGS if key in command.context_settings}:
        row["settings"] = settings
    row["parameters"] = [one for one in map(described, command.params) if one]
    if isinstance(command, click.Group):
        row["group"] = True
    yield row
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from rows(found, child, context)


def described(parameter: click.Parameter) -> Row | None:
    """None for what help does not show."""
    if isinstance(parameter, click.Option) and parameter.hidden:
        return None
    about: Row = {"label": label(parameter)}
    if isinstance(parameter, click.Option):
        about["names"], about["help"] = parameter.opts, parameter.help or ""
        if parameter.secondary_opts:
            about["off"] = parameter.secondary_opts
        if parameter.is_flag or parameter.count:
            about["flag"] = True
    else:
        about["name"] = parameter.name
    if parameter.nargs != 1:
        about["nargs"] = parameter.nargs
    if parameter.multiple:
        about["multiple"] = True
    if isinstance(parameter.type, click.Choice):
        about["choices"] = list(parameter.type.choices)
    if isinstance(parameter.type, click.Path):
        about["path"] = "file" if parameter.type.file_okay else "dir"
    return about


def written(command: click.Command) -> str:
    """One command a line, so that a change of one is a change of one line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows(command))
    return f"[\n{lines}\n]\n"


def rows_by_words() -> dict[str, Row]:
    return {row["words"]: row for row in json.loads(FILE.read_text())}


def loaded() -> click.Group:
    """Commands that do nothing, and have the names and parameters of the real ones."""
    made: dict[str, click.Command] = {}
    for words, row in rows_by_words().items():
        above, _, name = words.rpartition(" ")
        parameters = [parameter(about) for about in row["parameters"]]
        kind = click.Group if row.get("group") else click.Command
        command = kind(name, help=row["help"], params=parameters, context_settings=row.get("settings", {}))
        made[words] = command
        if above:
            group = made[above]
            assert isinstance(group, click.Group)
            group.add_command(command)
    root = made[ROOT]
    assert isinstance(root, click.Group)
    return root


def parameter(about: Mapping[str, Any]) -> click.Parameter:
    kind: click.ParamType[Any] | None = None
    if "choices" in about:
        kind = click.Choice(about["choices"])
    elif "path" in about:
        kind = click.Path(file_okay=about["path"] == "file")
    given: dict[str, Any] = {"type": kind, "nargs": about.get("nargs", 1), "shell_complete": completer(about["label"])}
    if "name" in about:
        return click.Argument([about["name"]], **given, required=False)
    several = {"multiple": about.get("multiple", False), "help": about["help"]}
    if not about.get("flag"):
        return click.Option(about["names"], **given, **several)
    first, *more = about["names"]
    return click.Option(["/".join([first, *about.get("off", [])[:1]]), *more], is_flag=True, **several)


if __name__ == "__main__":
    from landbridge.commands import landbridge

    sys.stdout.write(written(landbridge))

"""Options of the whole command: each may stand before a command's name and after it, and counts the same.

A command that wants to know what one says has it among its own: `options.local_option`, `options.fleet_option`.
All others take it from here, unseen: what has no meaning for a command does not stop it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any
from weakref import WeakSet

import click
from click.core import ParameterSource

from landbridge import loudness
from landbridge.local import meant

KEY = "landbridge.{}"
Otherwise = Callable[[click.Context, Mapping[str, Any]], Any]


class WholeOption(click.Option):
    """What is said nearest to the end of the command line counts; where nothing is, `otherwise` may say something."""

    def __init__(self, declarations: Sequence[str], otherwise: Otherwise | None = None, **how: Any) -> None:
        super().__init__(declarations, **how)
        self.otherwise = otherwise

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        value, source = super().consume_value(ctx, opts)
        key = KEY.format(self.name)
        if source is ParameterSource.COMMANDLINE:
            ctx.meta[key] = value  # of this command and all below it
        elif key in ctx.meta:
            return ctx.meta[key], ParameterSource.COMMANDLINE
        elif self.otherwise and self.expose_value and not ctx.resilient_parsing:
            return self.otherwise(ctx, opts), ParameterSource.ENVIRONMENT
        return value, source


def meant_elsewhere(ctx: click.Context, opts: Mapping[str, Any]) -> bool:
    named = opts.get("fleet_file") or ctx.meta.get(KEY.format("fleet_file"))
    return meant.local(None, Path(named) if isinstance(named, str | Path) else None)


# By name: how each is written, and what else click has to know. Its help is that of the whole command.
DECLARED: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "local": (
        ("--local/--no-local",),
        {
            "default": False,
            "otherwise": meant_elsewhere,
            "help": "On the local cloud, with no account and no network, or not.",
        },
    ),
    "fleet_file": (
        ("--fleet", "fleet_file"),
        {
            "type": click.Path(path_type=Path),
            "metavar": "FILE",
            "help": "Another fleet file than the nearest fleet.yaml, here or in a folder above.",
        },
    ),
    "verbose": (
        ("--verbose", "-v"),
        {"count": True, "help": "Tell of programs and requests, with their times; -vv of the engine's doings, too."},
    ),
    "quiet": (
        ("--quiet", "-q"),
        {"is_flag": True, "help": "Only errors and the result: no progress."},
    ),
}
LOUDNESS = ("verbose", "quiet")
_have_all = WeakSet[click.Command]()
WRITTEN = {"local": "--local", "fleet_file": "--fleet", "verbose": "-v", "quiet": "-q"}


def option(name: str) -> Callable[[Any], Any]:
    """As a decorator, for a command that wants to know."""
    declarations, how = DECLARED[name]
    return click.option(*declarations, cls=WholeOption, **how)


def hoisted(command: click.Command) -> click.Command:
    """The command, and all below it, with every option of the whole command that it has not by itself."""
    if isinstance(command, click.Group):
        for child in command.commands.values():
            hoisted(child)
    return added(command, hidden=True)


def added(command: click.Command, *, hidden: bool) -> click.Command:
    if command in _have_all:
        return command
    _have_all.add(command)
    known = {parameter.name for parameter in command.params}
    names = [name for name in DECLARED if name not in known and not (hidden and foreign(name, command))]
    for name in names:
        declarations, how = DECLARED[name]
        command.params.append(WholeOption(declarations, **how, hidden=hidden, expose_value=False))
    if hidden:
        command.epilog = epilog(command, names)
    if command.callback:
        command.callback = loud(command.callback)
    return command


def foreign(name: str, command: click.Command) -> bool:
    """Whether it is another program's there, which the rest of the command line is for."""
    return name in LOUDNESS and any(
        isinstance(one, click.Argument) and one.type is click.UNPROCESSED for one in command.params
    )


def epilog(command: click.Command, names: Sequence[str]) -> str:
    """What help says of options that it does not list."""
    idle = [] if isinstance(command, click.Group) else [name for name in names if name not in LOUDNESS]
    said = [WRITTEN[name] for name in names if name not in idle]
    more = f"As with every command: {', '.join(said)}; see `landbridge --help`."
    if foreign(LOUDNESS[0], command):
        more = "-v and -q stand before the command's name; see `landbridge --help`."
    verb = "changes" if len(idle) == 1 else "change"
    return f"{more} {' and '.join(WRITTEN[name] for name in idle)} {verb} nothing here." if idle else more


def loud(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Tells of what is called meanwhile, or of less than else, if that is wanted. Raises UsageError."""

    @wraps(callback)
    def run(*given: Any, **named: Any) -> Any:
        said = click.get_current_context().meta
        level, quiet = said.get(KEY.format("verbose"), 0), bool(said.get(KEY.format("quiet")))
        if level and quiet:
            raise click.UsageError("-v and -q exclude each other.")
        with calls_told(level), loudness.hushed(wanted=quiet):
            return callback(*given, **named)

    return run


def calls_told(level: int) -> AbstractContextManager[None]:
    if not level:
        return nullcontext()
    from landbridge import calls  # most commands are run without it

    return calls.told(level)

"""Commands that our strings name, and whether a person who types them gets what was promised."""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "landbridge",
    "fleet",
    "stacks",
    "components",
    "policies",
    "services",
    "local",
    "images",
    "tools",
    "evidence",
)
PROGRAMS = ("landbridge", "make", "kubectl", "pulumi")
# In marks of code; without them after a word that calls for it, or as the whole string.
PROGRAM, REST = f"(?:{'|'.join(PROGRAMS)})", r"(?!as root)[^`.:;,()\n]+"
NAMED = re.compile(rf"`((?:[A-Z_]+=\S+ +)*(?:\S*/)?{PROGRAM}(?: [^`]*)?)`")
BARE = re.compile(rf"\b(?:[Rr]un|[Tt]ry|[Tt]ype|[Uu]se) ({PROGRAM} {REST})")
TOLD = re.compile(rf": (landbridge {REST})")
WHOLE = re.compile(rf"^({PROGRAM} [a-z]{REST})$")
FORMS = (NAMED, BARE, TOLD, WHOLE)
# What a string has put into it: a word of its own, or more options behind a word.
PUT_IN = "\0"


class Remedy(NamedTuple):
    """A command as a string names it; a value that is put in is PUT_IN."""

    where: str
    text: str


def found() -> Iterator[Remedy]:
    for path in sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        yield from in_source(path.read_text(), str(path.relative_to(ROOT)))


def in_source(source: str, name: str) -> Iterator[Remedy]:
    for line, text in strings(ast.parse(source)):
        for command in (found for form in FORMS for part in text.split(" · ") for found in form.findall(part)):
            yield Remedy(f"{name}:{line}", " ".join(command.split()))


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every string with its line, those that hold others as a whole."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.lineno, tree.value
        return
    if isinstance(tree, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else PUT_IN for part in tree.values)
        yield tree.lineno, "".join(map(str, parts))
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(tree, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from strings(child)


def words(text: str) -> list[str]:
    """Without settings of the environment before it, what a shell does with its output, and what is left open (…)."""
    text = re.sub(
        rf"(?<=[^\s{PUT_IN}=/-]){PUT_IN}", "", text
    )  # options, in the form in which we put them behind a word
    told = shlex.split(re.split(r"\s[|>&;]", text)[0].replace("…", " "))
    while told and re.fullmatch(r"[A-Z_]+=.*", told[0]):
        told.pop(0)
    return [told[0].rpartition("/")[2], *told[1:]]


def wrong(text: str, programs: Mapping[str, "click.Command | set[str]"]) -> str | None:
    """What a person would be told by `landbridge` or `make`; None for a command that exists."""
    program, *rest = words(text)
    known = programs[program]
    if isinstance(known, click.Command):
        return wrong_of_click(known, rest, context_of(known, program))
    targets = [word for word in rest if "=" not in word and not word.startswith("-")]
    lacking = [word for word in targets if word not in known]
    return f"no target {', '.join(lacking)}" if lacking else None


def wrong_of_click(command: click.Command, arguments: list[str], context: click.Context) -> str | None:
    """By the names of commands and options alone: what stands for a value may be any."""
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if {"-h", "--help", "--version"} & {*ours}:
        return None
    try:
        _, left, _ = command.make_parser(context).parse_args(list(ours))
    except click.NoSuchOption as error:
        return error.format_message()
    except click.BadOptionUsage:  # an option that is named without its value
        return None
    if not isinstance(command, click.Group):
        many = [word for word in left if word != PUT_IN]  # that may be options, too
        return f"too many words: {' '.join(many)}" if many else None
    if not left or left[0] == PUT_IN:
        return None
    child = command.get_command(context, left[0])
    if child is None:
        return f"{context.command_path} has no command {left[0]}"
    return wrong_of_click(child, left[1:], context_of(child, left[0], context))


def context_of(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    return click.Context(command, parent=parent, info_name=name, **command.context_settings)

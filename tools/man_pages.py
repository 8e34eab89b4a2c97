"""Man pages of all commands, from the commands themselves: `make man`, or `python tools/man_pages.py FOLDER`.

`landbridge setup` writes them to share/man/man1 of its environment. A page a command: `man landbridge-pool-roll`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

SECTION = "1"
NAME = "landbridge"
SEE = "Guides and runbooks are in docs/ of the repository. With --help the command says what this page says."


def pages(
    command: click.Command, version: str, parent: click.Context | None = None, name: str = NAME
) -> Iterator[tuple[str, str]]:
    """File name and text of a command's page and of those of all below it."""
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    yield f"{dashed(context)}.{SECTION}", page(command, context, version)
    for child, found in children(command, context):
        yield from pages(found, version, context, child)


def children(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield name, found


def dashed(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def page(command: click.Command, context: click.Context, version: str) -> str:
    title = dashed(context).upper()
    usage = " ".join(command.collect_usage_pieces(context))
    first, *rest = paragraphs(command.help or "")
    lines = [
        f'.TH "{escaped(title)}" "{SECTION}" "" "{NAME} {escaped(version)}" "{NAME}"',
        ".SH NAME",
        f"{escaped(dashed(context))} \\- {escaped(first.split('. ')[0].rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {escaped(context.command_path)}",
        text(usage),
        ".SH DESCRIPTION",
        *"\n.PP\n".join(map(text, [first, *rest])).splitlines(),
    ]
    records = [record for one in command.get_params(context) if (record := one.get_help_record(context))]
    if records:
        lines += [".SH OPTIONS", *(line for names, said in records for line in entry(names, said))]
    below = [(child, found.get_short_help_str(1000)) for child, found in children(command, context)]
    if below:
        lines += [".SH COMMANDS", *(line for child, said in below for line in entry(child, said))]
    lines += [".SH SEE ALSO", *also(context, [child for child, _ in below]), ".PP", text(SEE)]
    return "\n".join(lines) + "\n"


def also(context: click.Context, below: list[str]) -> list[str]:
    """The page above, and those below."""
    names = [f"{dashed(context)}-{child}" for child in below]
    names = ([dashed(context.parent)] if context.parent else []) + names
    return [f".BR {escaped(name)} ({SECTION}){',' if name != names[-1] else ''}" for name in names]


def entry(names: str, said: str) -> list[str]:
    return [".TP", f"\\fB{escaped(names)}\\fR", text(said)]


def paragraphs(help_text: str) -> list[str]:
    """Each on a line; \\b is click's own mark for one that is not wrapped."""
    parts = re.split(r"\n\s*\n", help_text.replace("\b", "").strip())
    return [" ".join(part.split()) for part in parts if part.strip()] or [""]


def text(words: str) -> str:
    """A line that roff takes for text, whatever it begins with."""
    done = escaped(words)
    return f"\\&{done}" if done.startswith((".", "'")) else done


def escaped(words: str) -> str:
    """With what roff reads as its own made plain: backslashes first, then dashes, which are to be copied as typed."""
    named = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}
    # Letters beyond ASCII by their number: roff itself reads bytes.
    return "".join(named.get(c, c if c.isascii() else f"\\[u{ord(c):04X}]") for c in words)


def write(folder: Path) -> int:
    """All pages into a folder that has no others; gives how many."""
    from importlib.metadata import version

    from landbridge.commands import landbridge

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{NAME}*.{SECTION}"):
        old.unlink()
    made = dict(pages(landbridge, version(NAME)))
    for name, page_text in made.items():
        (folder / name).write_text(page_text)
    return len(made)


if __name__ == "__main__":
    print(f"{write(Path(sys.argv[1]))} pages in {sys.argv[1]}: man -l {sys.argv[1]}/{NAME}.{SECTION}")

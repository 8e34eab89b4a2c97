"""The command lines of Exec…= directives: prefixes, words, and the variables in them."""

import re
import shutil
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from . import values

# systemd's own search path for commands without a folder, and the PATH of all it starts.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OTHER_PREFIXES = "@:!|"
VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
WHOLE_WORD = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


class Command(NamedTuple):
    """One command line; its words still have their variables."""

    words: tuple[str, ...]
    may_fail: bool = False
    privileged: bool = False

    def argv(self, environment: Mapping[str, str]) -> list[str]:
        """The words with `environment` put in. The program itself is never a variable."""
        return [self.words[0], *expand(self.words[1:], environment)]

    def program(self) -> str:
        """The program's path: a bare name is looked up as systemd does."""
        return self.words[0] if "/" in self.words[0] else shutil.which(self.words[0], path=PATH) or self.words[0]


def command(value: str) -> Command:
    """Reads an Exec…= value; the honoured prefixes are `-` (may fail) and `+` (as root)."""
    match = re.fullmatch(r"([-+]*)(.*)", value, re.DOTALL)
    assert match
    prefixes, line = match[1], match[2]
    if line[:1] and line[0] in OTHER_PREFIXES:
        raise ValueError(f"the prefix {line[0]} is not honoured, only - and + are")
    found = tuple(values.words(line))
    if not found:
        raise ValueError("expected a command")
    if ";" in found:
        raise ValueError("several commands in one line are not honoured: give each a line of its own")
    if "/" in found[0] and not found[0].startswith("/"):
        raise ValueError("expected an absolute path or a bare name of a program")
    if found[0].startswith("$"):
        raise ValueError("the program cannot be a variable")
    return Command(found, may_fail="-" in prefixes, privileged="+" in prefixes)


def expand(words: tuple[str, ...], environment: Mapping[str, str]) -> Iterator[str]:
    """`$NAME` as a word of its own becomes as many words as it holds; `${NAME}` stays within its word."""
    for word in words:
        if alone := WHOLE_WORD.fullmatch(word):
            yield from values.words(environment.get(alone[1], ""))
        else:
            yield VARIABLE.sub(lambda found: environment.get(found[1], "") if found[1] else "$", word)


def environment_file(text: str) -> dict[str, str]:
    """Reads an EnvironmentFile=: lines of NAME=value, comments, quotes, continued lines."""
    found: dict[str, str] = {}
    unfolded = re.sub(r"\\\n", "", text)
    for line in unfolded.splitlines():
        stripped = line.strip()
        name, equals, value = stripped.partition("=")
        if not stripped or stripped[0] in "#;" or not equals:
            continue
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name.rstrip()):
            found[name.rstrip()] = unquoted(value.strip())
    return found


def unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r'\\(["\\$`])', r"\1", value[1:-1])
    return re.sub(r"\\(.)", r"\1", value)

"""The command line taken apart without click, before anything large is imported: whose words are whose.

A command may have to go into the local cloud, or be kubectl, at once: what is asked here is asked of every command.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LOCAL, NOT_LOCAL, FLEET = "--local", "--no-local", "--fleet"
LOUDNESS = re.compile(r"-[vq]+|--verbose|--quiet")


class CommandLine(NamedTuple):
    """Options of the whole command before a command's name, and what follows it."""

    options: tuple[str, ...]
    command: str
    rest: tuple[str, ...]

    @property
    def own(self) -> tuple[str, ...]:
        """All words but the command's name, without what is another program's."""
        words = self.options + self.rest
        return words[: words.index("--")] if "--" in words else words


def taken_apart(words: Sequence[str]) -> CommandLine | None:
    """None where click has to judge: no command, `--help`, an option that is none of the whole command's."""
    left, options = list(words), list[str]()
    while left and left[0].startswith("-"):
        word = left.pop(0)
        options.append(word)
        if word == FLEET:
            if not left:
                return None
            options.append(left.pop(0))
        elif not (word in (LOCAL, NOT_LOCAL) or word.startswith(f"{FLEET}=") or LOUDNESS.fullmatch(word)):
            return None
    return CommandLine(tuple(options), left[0], tuple(left[1:])) if left else None


def local(words: Sequence[str]) -> bool | None:
    """What is said of the local cloud, last of all; None for nothing."""
    return next((word == LOCAL for word in reversed(words) if word in (LOCAL, NOT_LOCAL)), None)


def fleet(words: Sequence[str]) -> Path | None:
    """The fleet file that is named, last of all."""
    named = None
    for number, word in enumerate(words):
        if word.startswith(f"{FLEET}="):
            named = word.partition("=")[2]
        elif word == FLEET and number + 1 < len(words):
            named = words[number + 1]
    return Path(named) if named else None


def loudness(words: Sequence[str]) -> bool:
    """Whether more or less is to be told than a command tells by itself."""
    return any(LOUDNESS.fullmatch(word) for word in words)

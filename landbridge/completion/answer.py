"""What a shell asks at Tab, answered. It hears of no error: that would stand in a person's line."""

import os
import sys

from click.shell_completion import ShellComplete, get_completion_class

from .tree import ROOT, loaded

# As click calls it, and its scripts set it.
VARIABLE = f"_{ROOT.upper()}_COMPLETE"


def answer() -> int:
    """The exit code, which no script looks at."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        shell, _, what = os.environ[VARIABLE].partition("_")
        if what == "complete":
            sys.stdout.write(of_shell(shell).complete() + "\n")
            sys.stdout.flush()
    except Exception:
        return 1
    return 0


def of_shell(shell: str) -> ShellComplete:
    found = get_completion_class(shell)
    assert found is not None, shell
    return found(loaded(), {}, ROOT, VARIABLE)


def script(shell: str) -> str:
    """What makes a shell ask: click's own, less its look at which bash is on the PATH here."""
    return ShellComplete.source(of_shell(shell))

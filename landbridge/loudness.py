"""How much a command tells: `-q` leaves out all but errors and the result. Imports nothing large."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

_quiet = False


def quiet() -> bool:
    return _quiet


@contextmanager
def hushed(*, wanted: bool) -> Iterator[None]:
    """Nothing but errors and results is written by the body, whichever thread it runs in."""
    global _quiet
    before, _quiet = _quiet, _quiet or wanted
    try:
        yield
    finally:
        _quiet = before


def note(text: str, **style: Any) -> None:
    """Says on stderr what is neither an error nor the result."""
    if not _quiet:
        click.secho(text, err=True, **style)


def aside() -> Any:
    """Where a program's progress goes, as `subprocess` takes it: what it prints on stdout is no result of ours."""
    return subprocess.DEVNULL if _quiet else sys.stderr

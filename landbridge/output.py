"""Where a command writes: tables for people, or one document for machines and the rest on stderr."""

import io
import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import click
from rich.console import Console

from landbridge import loudness


class Output(NamedTuple):
    """Where people read, and where progress goes: away from stdout when a machine reads that, nowhere if unwanted."""

    console: Console
    progress: Console
    as_json: bool

    @property
    def interactive(self) -> bool:
        return not self.as_json and sys.stdin.isatty() and self.console.is_terminal

    def document(self, document: dict[str, Any]) -> None:
        click.echo(written(document))


def written(document: Mapping[str, Any]) -> str:
    """A document as JSON: times in ISO 8601, all else that JSON does not know as text."""
    return json.dumps(document, indent=2, default=lambda v: v.isoformat() if isinstance(v, datetime) else str(v))


def output(*, as_json: bool) -> Output:
    console = terminal(stderr=as_json)
    return Output(console, nowhere() if loudness.quiet() else console, as_json)


def terminal(*, stderr: bool) -> Console:
    """With colours where they can be shown, and are not unwanted: rich alone would still make words bold."""
    if os.environ.get("NO_COLOR"):
        return Console(stderr=stderr, highlight=False, color_system=None)
    return Console(stderr=stderr, highlight=False)


def nowhere() -> Console:
    """Is no terminal: nothing is drawn there, and what others print meanwhile is not caught."""
    return Console(file=io.StringIO(), quiet=True)

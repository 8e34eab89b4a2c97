"""Where a command writes: tables for people, or one document for machines and the rest on stderr."""

import json
import sys
from typing import Any, NamedTuple

import click
from rich.console import Console


class Output(NamedTuple):
    """Where people read, and where progress goes: away from stdout when a machine reads that."""

    console: Console
    progress: Console
    as_json: bool

    @property
    def interactive(self) -> bool:
        return not self.as_json and sys.stdin.isatty() and self.console.is_terminal

    def document(self, document: dict[str, Any]) -> None:
        click.echo(json.dumps(document, indent=2, default=str))


def output(*, as_json: bool) -> Output:
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    return Output(err if as_json else out, err if as_json else out, as_json)

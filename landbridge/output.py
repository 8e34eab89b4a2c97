"""Where a command writes: tables for people, or one document for machines and the rest on stderr."""

import json
import sys
from collections.abc import Mapping
from datetime import datetime
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
        click.echo(written(document))


def written(document: Mapping[str, Any]) -> str:
    """A document as JSON: times in ISO 8601, all else that JSON does not know as text."""
    return json.dumps(document, indent=2, default=lambda v: v.isoformat() if isinstance(v, datetime) else str(v))


def output(*, as_json: bool) -> Output:
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    return Output(err if as_json else out, err if as_json else out, as_json)

"""Queries of all dashboards as Grafana would ask them, and what of them is a metric's name."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from landbridge.dashboards.board import whole
from landbridge.dashboards.grafana import BOARDS
from local.kubernetes import BIN

# What Grafana puts in the place of its variables where all are chosen.
CHOSEN = {
    "$__rate_interval": "5m",
    "$cluster": ".*",
    "$place": ".*",
    "$pool": ".*",
    "$node": "a|b|c",
    "$team": "team-.+",
}
WORDS = {"and", "or", "unless", "bool", "offset"}


class Asked(NamedTuple):
    where: str
    text: str


def filled(text: str, chosen: Mapping[str, str] = CHOSEN) -> str:
    for variable, value in chosen.items():
        text = text.replace(variable, value)
    return text


def of_panels() -> list[Asked]:
    return [
        Asked(f"{board.name}/{row.title}/{panel.title}/{number}", whole(query.asks))
        for board in BOARDS
        for row in board.rows
        for panel in row.panels
        for number, query in enumerate(panel.queries)
    ]


def of_choices() -> list[Asked]:
    return [Asked(f"{board.name}/${one.name}", whole(one.metric)) for board in BOARDS for one in board.choices]


ASKED = [*of_panels(), *of_choices()]


def of(where: str) -> str:
    """The one query of this panel, filled in."""
    (found,) = (one.text for one in ASKED if one.where.startswith(where))
    return filled(found)


def metrics(text: str) -> set[str]:
    """All names that are neither a function nor a label."""
    bare = re.sub(r'"[^"]*"', "", text)
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]", "", bare)
    bare = re.sub(r"\b(by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)", "", bare)
    return set(re.findall(r"[a-zA-Z_:][\w:]*\b(?!\s*\()", bare)) - WORDS - {"by", "on"}


def promtool(folder: Path, what: tuple[str, ...], document: Mapping[str, Any]) -> str:
    """Empty where all is well, else what it says."""
    file = folder / "asked.yaml"
    file.write_text(json.dumps(document))
    done = subprocess.run([BIN / "promtool", *what, file], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr

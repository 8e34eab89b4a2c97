"""How a machine's service is, as scripts that look at it have measured: in the journal, and as metrics in a file.

Node exporters read that file (their textfile collector). Where the machine is a node, its condition ServiceUnwell has
what is wrong, by a file beside it (node_looks.py).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from machine import say, write


class Measured(NamedTuple):
    """One metric; `wrong` says what is wrong with it, empty when nothing is. `label` is that of one of several."""

    name: str
    value: float
    wrong: str = ""
    label: str = ""


def text(names: Mapping[str, str], found: Iterable[Measured]) -> str:
    """In the form that Prometheus reads; `names` says what each metric is."""
    measured, lines = list(found), []
    for name, about in names.items():
        lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
        for one in measured:
            if one.name == name:
                value = "+Inf" if one.value == float("inf") else f"{one.value:g}"
                label = f"{{{one.label}}}" if one.label else ""
                lines.append(f"{name}{label} {value}")
    return "\n".join(lines) + "\n"


def report(metrics: Path, names: Mapping[str, str], found: Iterable[Measured]) -> None:
    """Raises SystemExit, by which a unit fails, when anything is wrong."""
    measured = list(found)
    wrong = [one.wrong for one in measured if one.wrong]
    metrics.parent.mkdir(parents=True, exist_ok=True)
    write(metrics, text(names, measured))
    write(metrics.with_suffix(".wrong"), "".join(f"{what}\n" for what in wrong))
    for what in wrong:
        say(f"ERROR: {what}")
    if wrong:
        raise SystemExit(1)

"""A burn-in for people and for machines."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.markup import escape
from rich.table import Table

from images.burn_in.findings import Finding, Result

SIGNS = {"passed": "[green]✓[/]", "failed": "[red]✗[/]", "error": "[yellow]?[/]", "left out": "[dim]-[/]"}
WORDS = {"passed": "passed", "failed": "failed", "error": "could not be judged", "left out": "could not be judged"}


def table(found: Result) -> Table:
    """Tests that all GPUs passed are one row; what is bad stands by itself. Fits into 80 columns."""
    made = Table(box=None, pad_edge=False)
    for heading in ("", "Part", "Test", "Measured", "Allowed"):
        made.add_column(heading, overflow="fold", no_wrap=heading in ("", "Part"))
    for part, test, measured, allowed, outcome in rows(found):
        made.add_row(SIGNS[outcome], *map(escape, (part, test, measured, allowed)))
    return made


def rows(found: Result) -> Iterator[tuple[str, str, str, str, str]]:
    ordered = sorted(found.findings, key=lambda one: [other.test for other in found.findings].index(one.test))
    for _, group in groupby(ordered, key=lambda one: one.test):
        some = list(group)
        for outcome in ("failed", "error", "passed", "left out"):
            alike = [one for one in some if one.outcome == outcome]
            if outcome in ("failed", "error") or len(alike) == 1:
                yield from ((short(one), one.title, one.measured, one.allowed, outcome) for one in alike)
            elif alike:
                yield f"{len(alike)} GPUs", alike[0].title, span(alike), alike[0].allowed, outcome


def short(finding: Finding) -> str:
    """What identifies it for good stands below the table."""
    return finding.part.partition(" (")[0].replace(" together", "")


def span(some: Sequence[Finding]) -> str:
    """Of measures in the same unit, the ends."""
    shown = list(dict.fromkeys(one.measured for one in some))
    if len(shown) == 1:
        return shown[0]
    try:
        ends = sorted(shown, key=lambda one: float(one.split()[0].replace(",", "")))
    except ValueError:
        return f"{shown[0]}, …"
    return f"{ends[0].split()[0]} to {ends[-1]}"


def lines(node: str, found: Result) -> Iterator[str]:
    """What follows the table: each bad part by its serial number, and the verdict."""
    yield from (one.summary for one in found.bad)
    gpus = f"{len(found.gpus)} {found.gpus[0].name}, driver {found.driver}" if found.gpus else "no GPU that answers"
    summary = (
        f"{node}: {found.kind} burn-in {WORDS[found.outcome]} in {found.seconds:.0f} s ({gpus}), {found.digest[:12]}"
    )
    yield summary


def document(node: str, found: Result, marked: str | None) -> dict[str, Any]:
    """`node` is the cluster's where `marked` names one."""
    return {
        "machine": node,
        "node": marked,
        "kind": found.kind,
        "outcome": found.outcome,
        "at": found.at,
        "seconds": round(found.seconds, 1),
        "digest": found.digest,
        "driver": found.driver,
        "model": found.model,
        "gpus": [
            {"index": gpu.number, "name": gpu.name, "serial": gpu.serial, "uuid": gpu.uuid, "bus": gpu.bus}
            for gpu in found.gpus
        ],
        "findings": [one._asdict() for one in found.findings],
    }

"""The fleet file and its ledger: read in the first place, since all other looks go by them."""

from collections.abc import Iterator
from pathlib import Path

from fleet.errors import FleetError
from fleet.world import World, current

from .finding import Finding
from .subject import Patient

AREA = "fleet file"


def read(path: Path) -> tuple[World | None, list[Finding]]:
    """The world, or why there is none."""
    try:
        return current(path), []
    except FleetError as error:
        found = []
        for problem in error.problems:
            where = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
            found.append(Finding(AREA, "broken", f"{where}: {problem.what}", problem.remedy))
        return None, found


def look(patient: Patient) -> Iterator[Finding]:
    """What is not refused, and should be known."""
    for remark in patient.world.remarks if patient.world else ():
        where = f"{remark.file}:{remark.line}"
        yield Finding(AREA, "soon", f"{where}: {remark.text}", f"See to {where}, or leave it if that is meant")

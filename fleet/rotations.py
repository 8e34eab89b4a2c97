"""fleet.pki.yaml: which generation of each key every cluster is at, committed beside the fleet file.

Only `landbridge pki rotate` writes it. What it does not name is at its first generation and at rest: a fleet that never
rotated has no such file.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from . import committed_files

Phase = Literal["steady", "trust", "issue", "back"]
HEADER = """\
# Which generation of each key every cluster is at. Written by `landbridge pki rotate`: commit it, never edit it.
"""


class Standing(BaseModel):
    """Where the keys of one subject are: `generation` signs, but in phase issue its successor does.

    `since` is when the last machine took the phase; without it some may not have it yet. `given_up` counts successors
    that were taken back: their numbers are never used again, for backups may still hold what they encrypted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    generation: int = Field(default=1, ge=1)
    phase: Phase = "steady"
    since: datetime | None = None
    given_up: int = Field(default=0, ge=0)

    @property
    def successor(self) -> int:
        """The generation that comes next, or is coming."""
        return self.generation + 1 + self.given_up


# Cluster → subject (an authority, service-accounts, encryption) → standing.
Rotations = Mapping[str, Mapping[str, Standing]]
_FILE: TypeAdapter[dict[str, dict[str, Standing]]] = TypeAdapter(dict[str, dict[str, Standing]])


def rotations_path(fleet_path: Path) -> Path:
    """fleet.yaml → fleet.pki.yaml, beside it."""
    return fleet_path.with_name(f"{fleet_path.stem}.pki.yaml")


def load(path: Path) -> Rotations:
    """Empty when there is no file. Raises FleetError when it is damaged."""
    return committed_files.load(path, _FILE)


def render(rotations: Rotations) -> str:
    """One line a subject, so that two rotations conflict in git where they should."""
    lines = [HEADER.rstrip()]
    for cluster, subjects in sorted(rotations.items()):
        lines.append(f"{cluster}:")
        for subject, at in sorted(subjects.items()):
            since = f", since: {at.since.isoformat(timespec='seconds')}" if at.since else ""
            given_up = f", given_up: {at.given_up}" if at.given_up else ""
            lines.append(f"  {subject}: {{generation: {at.generation}, phase: {at.phase}{since}{given_up}}}")
    return "\n".join(lines) + "\n"


def write(path: Path, rotations: Rotations) -> None:
    committed_files.write(path, render(rotations))

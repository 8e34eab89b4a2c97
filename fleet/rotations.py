"""fleet.pki.yaml: which generation of each key every cluster is at, committed beside the fleet file.

Only `landbridge pki rotate` writes it. What it does not name is at its first generation and at rest: a fleet that never
rotated has no such file.
"""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .errors import FleetError, Problem
from .yaml import plain, read

Phase = Literal["steady", "trust", "issue", "back"]
HEADER = """\
# Which generation of each key every cluster is at. Written by `landbridge pki rotate`: commit it, never edit it.
"""
RESTORE = "Take the file of the branch you merge into, as it is there"


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
    if not path.exists():
        return {}
    data, lines = read(path)
    try:
        return _FILE.validate_python(plain(data))
    except ValidationError as error:
        found = [
            Problem(
                path.name, lines.of(detail["loc"]), f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}", RESTORE
            )
            for detail in error.errors(include_url=False)
        ]
        raise FleetError(found) from None


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
    """Replaces the file in one step: a reader sees the old or the new one, never half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(render(rotations), encoding="utf-8")
    temporary.replace(path)

"""Where the keys of a cluster are, as fleet.pki.yaml has it, and what comes next."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from components.control_plane.rotation import NEXT, SUBJECTS, earliest, finished
from fleet import rotations
from fleet.rotations import Standing

Standings = dict[str, Standing]


def standings(path: Path, cluster: str) -> Standings:
    """Of every key, also of those that never rotated. Raises FleetError."""
    found = rotations.load(path).get(cluster, {})
    return {subject: found.get(subject, Standing()) for subject in SUBJECTS}


def picked(at: Mapping[str, Standing], only: Collection[str]) -> list[str]:
    """Which keys a call moves: those that are named, else those under way, else all."""
    moving = [subject for subject in SUBJECTS if at[subject].phase != "steady"]
    return [subject for subject in SUBJECTS if subject in only] or moving or list(SUBJECTS)


def waiting(at: Mapping[str, Standing], subjects: Iterable[str], now: datetime) -> dict[str, datetime]:
    """Which of these must not go on yet, and until when."""
    until = {subject: earliest(subject, at[subject]) for subject in subjects}
    return {subject: time for subject, time in until.items() if time is not None and time > now}


def words(at: Standing) -> str:
    return f"generation {at.generation}" if at.phase == "steady" else f"phase {at.phase} of {at.generation + 1}"


def following_words(at: Standing) -> str:
    """What the next call does to a key."""
    new = at.generation + 1
    return {
        "trust": f"key {new} is added and trusted",
        "issue": f"key {new} signs, key {at.generation} stays trusted",
        "steady": f"key {at.generation} is dropped: what it signed is refused from then on",
    }[NEXT[at.phase]]


class Moving(NamedTuple):
    """A key that rotates: where it is, what comes next, and from when on."""

    key: str
    generation: int
    phase: str
    finished: bool
    following: str
    not_before: datetime | None

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def moving(at: Mapping[str, Standing], now: datetime) -> list[Moving]:
    """Keys that are not at rest."""
    held = waiting(at, at, now)
    return [
        Moving(key, one.generation, one.phase, finished(one), following_words(one), held.get(key))
        for key, one in at.items()
        if one.phase != "steady" or not finished(one)
    ]

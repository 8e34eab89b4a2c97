"""Where the keys of a cluster are, as fleet.pki.yaml has it, and what comes next."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from components.control_plane.rotation import BACK, ON, SUBJECTS, Way, earliest, finished
from fleet import rotations
from fleet.rotations import Standing

Standings = dict[str, Standing]


def standings(path: Path, cluster: str) -> Standings:
    """Of every key, also of those that never rotated. Raises FleetError."""
    found = rotations.load(path).get(cluster, {})
    return {subject: found.get(subject, Standing()) for subject in SUBJECTS}


def picked(at: Mapping[str, Standing], only: Collection[str], way: Way = ON) -> list[str]:
    """Which keys a call moves: those that are named, else those under way, else all that can go this way.

    A key on its way back turns round again only where it is named.
    """
    moving = [subject for subject in SUBJECTS if at[subject].phase != "steady"]
    chosen = [subject for subject in SUBJECTS if subject in only]
    if not chosen and way is ON:
        chosen = [subject for subject in moving if at[subject].phase != "back"]
        return chosen or ([] if moving else list(SUBJECTS))
    return [subject for subject in chosen or moving if at[subject].phase in way.steps]


def astray(cluster: str, at: Mapping[str, Standing], only: Collection[str], way: Way) -> str:
    """Why a call moves nothing, or not what it names; empty when all is well."""
    if way is ON:
        back = ", ".join(subject for subject in SUBJECTS if at[subject].phase == "back")
        hint = f"`landbridge pki rotate {cluster} --back` goes on, `--only KEY` turns one round."
        return f"On their way back: {back}. {hint}" if not picked(at, only) else ""
    rest = [subject for subject in (only or SUBJECTS) if at[subject].phase not in way.steps]
    if len(rest) < (1 if only else len(SUBJECTS)):
        return ""
    which = ", ".join(f"{subject} (generation {at[subject].generation})" for subject in rest) if only else "every key"
    return (
        f"There is no way back for what is at rest in {cluster}: {which}. A dropped key is gone; to replace the one in "
        f"use, begin a new rotation: `landbridge pki rotate {cluster}`."
    )


def natural(at: Standing) -> Way:
    """The direction in which a key is going."""
    return BACK if at.phase == "back" else ON


def waiting(
    at: Mapping[str, Standing], subjects: Iterable[str], now: datetime, way: Way | None = None
) -> dict[str, datetime]:
    """Which of these must not go on yet, and until when; without a `way`, in the direction in which each is going."""
    until = {subject: earliest(subject, at[subject], way or natural(at[subject])) for subject in subjects}
    return {subject: time for subject, time in until.items() if time is not None and time > now}


def words(at: Standing) -> str:
    return f"generation {at.generation}" if at.phase == "steady" else f"phase {at.phase} of {at.successor}"


def following_words(at: Standing, way: Way | None = None) -> str:
    """What the next call does to a key."""
    phase = (way or natural(at)).steps[at.phase]
    old, new = (at.generation, at.successor) if at.phase == "issue" else (at.successor, at.generation)
    return {
        "trust": f"key {at.successor} is added and trusted",
        "issue": f"key {at.successor} signs, key {at.generation} stays trusted",
        "back": f"key {at.generation} signs again, key {at.successor} stays trusted",
        "steady": f"key {old} is dropped: what it signed is refused from then on; key {new} stays",
    }[phase]


class Moving(NamedTuple):
    """A key that rotates: where it is, what comes next, and from when on."""

    key: str
    generation: int
    successor: int
    phase: str
    finished: bool
    following: str
    not_before: datetime | None

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def moving(at: Mapping[str, Standing], now: datetime) -> list[Moving]:
    """Keys that are not at rest."""
    delayed = waiting(at, at, now)
    return [
        Moving(key, one.generation, one.successor, one.phase, finished(one), following_words(one), delayed.get(key))
        for key, one in at.items()
        if one.phase != "steady" or not finished(one)
    ]

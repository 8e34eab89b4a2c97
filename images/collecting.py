"""Which published images go, in three steps with days between them: deprecated, disabled, removed.

What a pointer, a machine, a group or a template uses stays, and so do the newest of each variant and Kubernetes minor.
Between the steps whoever still uses an image unseen has time to say so: each but the last can be taken back.
"""

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from fleet.image_names import STABLE
from fleet.kubernetes_versions import minor

from .channels import There, look_at
from .stores.store import Published, Store

KEEP = 3
# The breaker: a run takes steps on so many images of a place, or on a third of them, if that is more.
FEW, SHARE = 5, 3
# How long an image is in a state before its next step. Nothing starts from a disabled one.
NONE, DAY = datetime.timedelta(), datetime.timedelta(days=1)
DISABLE_AFTER, REMOVE_AFTER = 14 * DAY, 14 * DAY
Action = Literal["keep", "wait", "deprecate", "disable", "remove"]
STEPS: dict[str, tuple[Action, datetime.timedelta]] = {
    "available": ("deprecate", NONE),
    "deprecated": ("disable", DISABLE_AFTER),
    "disabled": ("remove", REMOVE_AFTER),
    # Half a copy, which nobody can start from.
    "failed": ("remove", NONE),
}


class Decision(NamedTuple):
    image: Published
    action: Action
    why: str


def plan(store: Store, keep: int, now: datetime.datetime) -> list[Decision]:
    """For every image in every place. Raises ImageError."""
    return [decision for place in store.places for decision in _planned(store, place, keep, now)]


def _planned(store: Store, place: str, keep: int, now: datetime.datetime) -> list[Decision]:
    return list(decided(look_at(store, place), store.users(place), keep, now))


def above(decisions: Sequence[Decision]) -> list[str]:
    """What a plan does that is more than one run may: a sentence for each such place."""
    there = Counter(one.image.place for one in decisions)
    due = Counter(one.image.place for one in decisions if one.action in ACTS)
    return [
        f"{number} of {there[place]} images in {place} would go a step"
        for place, number in due.items()
        if number > max(FEW, there[place] // SHARE)
    ]


def decided(there: There, users: Mapping[str, Sequence[str]], keep: int, now: datetime.datetime) -> Iterator[Decision]:
    """For every image of one place, the newest first."""
    channels = pointed(there)

    def kind(image: Published) -> tuple[str, str]:
        return image.variant, minor(image.kubernetes)

    ordered = sorted(there.images, key=lambda one: (kind(one), now - one.created))
    for _, group in groupby(ordered, kind):
        number = 0
        for image in group:
            yield _decision(image, [*channels.get(image.id, []), *users.get(image.id, [])], number, keep, now)
            number += image.state != "failed"


def pointed(there: There) -> dict[str, list[str]]:
    """Id → channels that say it; stable also what it said last, where a rollback leads."""
    found: dict[str, list[str]] = {}
    for key, pointer in there.pointers.items():
        found.setdefault(pointer.image, []).append(f"channel {key}")
        if pointer.previous and key.channel == STABLE:
            found.setdefault(pointer.previous, []).append(f"channel {key}, before")
    return found


def _decision(image: Published, users: Sequence[str], number: int, keep: int, now: datetime.datetime) -> Decision:
    if users:
        more = f" and {len(users) - 1} more" if len(users) > 1 else ""
        return Decision(image, "keep", f"used by {users[0]}{more}")
    if image.state == "pending":
        return Decision(image, "keep", "is being copied")
    if number < keep and image.state != "failed":
        return Decision(image, "keep", f"one of the newest {keep} of its kind")
    action, after = STEPS[image.state]
    if (left := after - max(now - image.since, NONE)) > NONE:
        return Decision(image, "wait", f"{image.state}; {action} in {-(-left // DAY)} days")
    return Decision(image, action, "nobody uses it")


def do(store: Store, decisions: Sequence[Decision], keep: int, now: datetime.datetime) -> list[Decision]:
    """What was done of a plan. Each place is planned once more just before: what is used since then stays.

    Raises ImageError.
    """
    wanted = {(one.image.place, one.image.id, one.action) for one in decisions}
    done = []
    for place in dict.fromkeys(one.image.place for one in decisions):
        for decision in _planned(store, place, keep, now):
            image = decision.image
            if decision.action in ACTS and (place, image.id, decision.action) in wanted:
                getattr(store, decision.action)(image)
                done.append(decision)
    return done


ACTS = ("deprecate", "disable", "remove")

"""Rotation of keys: add the new one, sign with it, drop the old one, and in between a roll of every machine.

One rule makes each step safe while half of the machines have taken it: what either half signs with, the other trusts
(`fits`). Authorities, the service accounts' key and the encryption key of Secrets all go the same way; for the last,
"trust" means to read with, "sign" to write with. From trust and issue there is a way back. A key that has signed is
given up as carefully as one that is replaced, so that issue goes back to a phase of its own. See
docs/decisions/0007-pki-rotation.md.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from fleet.rebuilds import Origin
from fleet.rotations import Phase, Standing

from .pki import AUTHORITIES, SERVICE_ACCOUNTS, Generations

ENCRYPTION = "encryption"
SUBJECTS: tuple[str, ...] = (*AUTHORITIES, SERVICE_ACCOUNTS, ENCRYPTION)
# Kubelets' certificates, which controllers sign for seven days; the longest life of a token; and for how long clouds
# may keep the issuer's public keys that they have read.
KUBELETS, TOKENS, ISSUER = 7 * 24, 24, 24


class Way(NamedTuple):
    """A direction: phase → the next one; subject and phase → hours before that, for what machines of ours don't hold.

    `reversible` are phases that may be left before every machine has them: those of both sides fit where it leads.
    """

    steps: Mapping[Phase, Phase]
    waits: Mapping[tuple[str, Phase], int]
    reversible: frozenset[Phase]


# From issue a subject comes to rest, one generation on.
ON = Way(
    {"steady": "trust", "trust": "issue", "issue": "steady", "back": "issue"},
    {
        ("kubernetes", "issue"): KUBELETS,
        (SERVICE_ACCOUNTS, "trust"): ISSUER,
        (SERVICE_ACCOUNTS, "back"): ISSUER,
        (SERVICE_ACCOUNTS, "issue"): TOKENS,
    },
    frozenset(),
)
# "back" is trust after issue: the same keys, but the new one has signed. In trust it never has: nothing to wait for.
BACK = Way(
    {"issue": "back", "back": "steady", "trust": "steady"},
    {("kubernetes", "back"): KUBELETS, (SERVICE_ACCOUNTS, "back"): TOKENS},
    frozenset({"trust", "issue"}),
)


def generations(at: Standing) -> Generations:
    """Which generations exist and are trusted in a phase, and which signs."""
    if at.phase == "steady":
        return Generations((at.generation,), at.generation)
    return Generations((at.generation, at.successor), at.successor if at.phase == "issue" else at.generation)


def all_generations(standings: Mapping[str, Standing]) -> dict[str, Generations]:
    """Of every subject; those that are not named are at their first. Raises ValueError for a name that is none."""
    if unknown := sorted(standings.keys() - set(SUBJECTS)):
        raise ValueError(f"there is no key {', '.join(unknown)} in a cluster: {', '.join(SUBJECTS)}")
    return {subject: generations(standings.get(subject, Standing())) for subject in SUBJECTS}


def following(at: Standing, way: Way = ON) -> Standing:
    """The next phase, which no machine has yet. At rest no way leads back: a new rotation is the one."""
    phase = way.steps[at.phase]
    if phase != "steady":
        return Standing(generation=at.generation, phase=phase, given_up=at.given_up)
    if at.phase == "issue":
        return Standing(generation=at.successor)
    return Standing(generation=at.generation, given_up=at.given_up + 1)


def dropped_generations(before: Standing, after: Standing) -> list[int]:
    """Generations that a step drops: what they signed is refused then, what they encrypted is lost."""
    return sorted({*generations(before).trusted} - {*generations(after).trusted})


def settled(at: Standing, now: datetime) -> Standing:
    """The same when every machine has it."""
    return at.model_copy(update={"since": now})


def finished(at: Standing) -> bool:
    """Whether every machine has the phase."""
    return at.since is not None or at == Standing()


def earliest(subject: str, at: Standing, way: Way = ON) -> datetime | None:
    """Before when the next phase must not begin, even though every machine has taken this one; None: at once."""
    hours = way.waits.get((subject, at.phase))
    return at.since + timedelta(hours=hours) if hours and at.since else None


def fits(before: Generations, after: Generations) -> bool:
    """Whether machines of both may run beside each other: each trusts what the other signs with.

    And only one key comes or goes: between dropping one and adding the next, what the old one signed is made anew.
    """
    trust_each_other = after.signing in before.trusted and before.signing in after.trusted
    return trust_each_other and len({*before.trusted} ^ {*after.trusted}) <= 1


def refusals(published: Mapping[str, Generations], wanted: Mapping[str, Generations]) -> list[str]:
    """Why a stack can't go from what it published last to what the file wants: a stale checkout or an edited file."""
    return [
        f"the keys of {subject} can't go from {_words(published[subject])} to {_words(after)} in one step: machines "
        "of both would refuse each other. Get the newest fleet.pki.yaml: only `landbridge pki rotate` writes it"
        for subject, after in wanted.items()
        if subject in published and not fits(published[subject], after)
    ]


def _words(at: Generations) -> str:
    trusted = " and ".join(str(number) for number in sorted(at.trusted))
    return f"signing {at.signing}, trusted {trusted}"


def wanted(origin: Origin, generations: Mapping[str, Generations]) -> bool:
    """Whether any generation that is trusted is one of the origin's: of a cluster that was rebuilt."""
    return any(
        number in origin.generations.get(subject, ()) for subject, at in generations.items() for number in at.trusted
    )

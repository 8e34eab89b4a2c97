"""Rotation of keys: add the new one, sign with it, drop the old one, and in between a roll of every machine.

One rule makes each step safe while half of the machines have taken it: what either half signs with, the other trusts
(`fits`). Authorities, the service accounts' key and the encryption key of Secrets all go the same way; for the last,
"trust" means to read with, "sign" to write with. See docs/decisions/0007-pki-rotation.md.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from fleet.rotations import Phase, Standing

from .pki import AUTHORITIES, SERVICE_ACCOUNTS, Generations

ENCRYPTION = "encryption"
SUBJECTS: tuple[str, ...] = (*AUTHORITIES, SERVICE_ACCOUNTS, ENCRYPTION)
# Phase → the next one. From the last a subject comes to rest, one generation on.
NEXT: dict[Phase, Phase] = {"steady": "trust", "trust": "issue", "issue": "steady"}
# Phase → where it may be abandoned to: as safe as going on.
BACK: dict[Phase, Phase] = {"trust": "steady", "issue": "trust"}
# Subject and phase → hours before the next one, beside the roll: for what machines of ours don't hold.
WAITS = {
    ("kubernetes", "issue"): 7 * 24,  # kubelets' certificates, which controllers sign for so long
    (SERVICE_ACCOUNTS, "trust"): 24,  # clouds may keep the issuer's public keys that they have read
    (SERVICE_ACCOUNTS, "issue"): 24,  # the longest life of a token
}


def generations(at: Standing) -> Generations:
    """Which generations exist and are trusted in a phase, and which signs."""
    new = at.generation + 1
    if at.phase == "steady":
        return Generations((at.generation,), at.generation)
    return Generations((at.generation, new), at.generation if at.phase == "trust" else new)


def all_generations(standings: Mapping[str, Standing]) -> dict[str, Generations]:
    """Of every subject; those that are not named are at their first. Raises ValueError for a name that is none."""
    if unknown := sorted(standings.keys() - set(SUBJECTS)):
        raise ValueError(f"there is no key {', '.join(unknown)} in a cluster: {', '.join(SUBJECTS)}")
    return {subject: generations(standings.get(subject, Standing())) for subject in SUBJECTS}


def following(at: Standing) -> Standing:
    """The next phase, which no machine has yet."""
    phase = NEXT[at.phase]
    return Standing(generation=at.generation + (phase == "steady"), phase=phase)


def settled(at: Standing, now: datetime) -> Standing:
    """The same when every machine has it."""
    return at.model_copy(update={"since": now})


def abandoned(at: Standing) -> Standing | None:
    """The phase before; None at rest: a new rotation is the way back then."""
    phase = BACK.get(at.phase)
    return phase and Standing(generation=at.generation, phase=phase)


def finished(at: Standing) -> bool:
    """Whether every machine has the phase."""
    return at.since is not None or at == Standing()


def earliest(subject: str, at: Standing) -> datetime | None:
    """Before when the next phase must not begin, even though every machine has taken this one; None: at once."""
    hours = WAITS.get((subject, at.phase))
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

"""Finds the cause of a pod's end, or of its waiting, among what was seen of it. Pure.

From the end backwards: what had brought that about, and what had brought about that, as causes.yaml says, until nothing
earlier is left. So a spot notice is the cause, and the drain, the SIGTERM and the exit code 143 are what followed.
"""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .causes import Cause, causes, waiting
from .observation import Observation, written
from .works import RESUMED, SUSPENDED

UNKNOWN = "unknown"
POD, NODE = "pod", "node"
# What a pod may outlive, beside ends of containers that are started again: what is older did not end it.
SURVIVED = ("killed-by-probe", "liveness", "hang", "peer-failed", "node-unready")
LIFE_SECONDS = 600.0
# Kubernetes' times are whole seconds, cut off, and clocks of machines differ by less than that.
SLACK_SECONDS = 2.0
# Those of audit logs have fractions, and API machines' clocks are set.
PRECISE_SECONDS = 0.2


class Found(NamedTuple):
    """A cause with what shows it: of the first come the sentence and the time. Who did something is best."""

    cause: Cause
    shown_by: Sequence[Observation]
    kind: str

    @property
    def at(self) -> float:
        return self.shown_by[0].at

    @property
    def times(self) -> list[float]:
        """Of what two have seen, the more precise one's."""
        found = [float(one.at) for one in self.shown_by]
        precise = [at for at in found if not at.is_integer()]
        return [at for at in found if at in precise or all(abs(at - one) > SLACK_SECONDS for one in precise)]

    @property
    def sentence(self) -> str:
        return told(self.cause.sentence, self.shown_by[0], self.kind)


class Verdict(NamedTuple):
    """`followed` are the links of the chain after the cause, in order; `others` were seen too, and are not of it."""

    code: str
    sentence: str
    advice: str
    at: float
    source: str
    followed: Sequence[Found]
    others: Sequence[Found]
    evidence: Sequence[Observation]

    def as_json(self) -> dict[str, Any]:
        return {
            "cause": self.code,
            "sentence": self.sentence,
            "advice": self.advice,
            "at": written(self.at) if self.at else None,
            "decided_by": self.source,
            "followed": [
                {"cause": one.cause.code, "sentence": one.sentence, "at": written(one.at)} for one in self.followed
            ],
            "others": [
                {"cause": one.cause.code, "sentence": one.sentence, "at": written(one.at)} for one in self.others
            ],
            "evidence": [one.as_json() for one in self.evidence],
        }


def judge(seen: Sequence[Observation], kind: str = POD) -> Verdict:
    """Of what concerns one pod: itself, what it belongs to, its node while it was there. Or of what concerns a node."""
    evidence = sorted(_concerning(seen), key=lambda one: one.at)
    found = [*_found(_of_last_life(evidence) if kind == POD else evidence, kind)]
    chain = _chain(found, kind)
    if not chain:
        return Verdict(UNKNOWN, _unknown(evidence), NO_ADVICE, 0.0, "", (), (), evidence)
    first = chain[0]
    source = str(first.shown_by[0].facts.get("user") or first.shown_by[0].source)
    advice = told(first.cause.advice, first.shown_by[0], kind)
    others = [one for one in found if one not in chain]
    return Verdict(first.cause.code, first.sentence, advice, first.at, source, chain[1:], others, evidence)


def _concerning(seen: Sequence[Observation]) -> Iterator[Observation]:
    """Without what a node said of another pod alone, and what is over. Of a node itself all counts."""
    mine = {one.uid for one in seen if one.about.startswith(f"{POD}/") and one.uid}
    resumed = {(one.about, one.at) for one in seen if one.code == RESUMED}
    for one in seen:
        # A run that is queued begins with its Jobs suspended.
        over = one.code == SUSPENDED and any(about == one.about and at >= one.at for about, at in resumed)
        if not over and (not mine or one.facts.get("pod_uid", "") in ("", *mine)):
            yield one


NO_ADVICE = "Look again in a few minutes: what clouds and audit logs say arrives late."


def _unknown(evidence: Sequence[Observation]) -> str:
    sources = sorted({one.source for one in evidence})
    return f"Nobody saw why. Looked at: {', '.join(sources)}." if sources else "Nothing was seen of it."


def _of_last_life(evidence: Sequence[Observation]) -> list[Observation]:
    """Without what the pod has outlived: containers that were started again, long before its own end."""
    again = {_which(one) for one in evidence if one.facts.get("again")}
    past = [one for one in evidence if one.code in SURVIVED or _which(one) in again]
    over = waiting()
    ends = [
        one.at
        for one in evidence
        if one.about.startswith(f"{POD}/") and one.at and one not in past and one.code not in over
    ]
    if not ends:
        return [*evidence]
    return [one for one in evidence if one not in past or one.at >= min(ends) - LIFE_SECONDS]


def _which(one: Observation) -> tuple[str, str, int]:
    """An end of a container; nothing else has an exit code."""
    code = one.facts.get("exit_code")
    return (one.about, str(one.facts["container"]), round(one.at)) if code is not None else (one.about, "", -1)


def _found(evidence: Sequence[Observation], kind: str) -> Iterator[Found]:
    for cause in causes():
        if shown := [one for code in cause.shown_by for one in evidence if one.code == code]:
            yield Found(
                cause,
                sorted(shown, key=lambda one: (cause.shown_by.index(one.code), "user" not in one.facts, one.at)),
                kind,
            )


def _chain(found: Sequence[Found], kind: str) -> list[Found]:
    """From the cause to the end, by time; empty where nothing is known."""
    ends = _ends(found, kind)
    if not ends:
        return []
    # Once its containers have ended a pod has, whoever clears it away.
    finals = [one for one in ends if any(map(_is_final, one.shown_by))]
    # Of several that brought none of the others the first one ended it, whatever came later.
    lasts = [one for one in ends if not any(_brings(one, other) for other in ends)]
    last = min([*finals, *lasts] or ends, key=lambda one: (one.at, _order(one)))
    before = _reached([last], found, lambda one, other: _brings(other, one))
    firsts = [one for one in before if not any(_brings(other, one) for other in before)]
    # Within the slack all may seem to have brought each other: then anything is more of a cause than the end itself.
    first = min(firsts, key=_order) if firsts else min(before, key=lambda one: (one is last, one.at, _order(one)))
    later = [one for one in _reached([last], found, _brings) if one not in before]
    after = [one for one in _reached([first], [*before, *later], _brings) if one is not first]
    return [first, *sorted(after, key=lambda one: (one in later, one is last, one.at))]


def _is_final(one: Observation) -> bool:
    ended = one.code == "done" or ("exit_code" in one.facts and not one.facts.get("again"))
    return ended and one.about.startswith(f"{POD}/")


def _ends(found: Sequence[Found], kind: str) -> list[Found]:
    """What may have been the last: ends of the pod, else what it waits for, else what became of its run or Job.

    Of a node: what took it, else what it lives with.

    Never what happened to its node, as long as that did nothing to the pod.
    """
    own = [one for one in found if any(seen.about.startswith(f"{kind}/") for seen in one.shown_by)]
    above = [one for one in found if not any(seen.about.startswith((f"{POD}/", f"{NODE}/")) for seen in one.shown_by)]
    mild = [one for one in own if one.cause.waits or (kind == NODE and one.cause.outlived)]
    return [one for one in own if one not in mild] or mild or above


def _reached(begin: list[Found], among: Sequence[Found], leads: Callable[[Found, Found], bool]) -> list[Found]:
    """With where it began."""
    reached = begin
    while new := [one for one in among if one not in reached and any(leads(other, one) for other in reached)]:
        reached = [*reached, *new]
    return reached


def _order(one: Found) -> int:
    return causes().index(one.cause)


def _brings(one: Found, other: Found) -> bool:
    """Whether the first may have brought the second: by its kind, and by the times of any two that show them.

    Where each may have brought the other, within that slack, the earlier one did.
    """
    if not _may_bring(one, other):
        return False
    return not _may_bring(other, one) or (one.at, _order(one)) < (other.at, _order(other))


def _may_bring(one: Found, other: Found) -> bool:
    return other.cause.code in one.cause.brings and any(
        -_slack(early, late) <= late - early <= one.cause.window_seconds for early in one.times for late in other.times
    )


def _slack(early: float, late: float) -> float:
    """A whole second may have been anywhere in it."""
    if early.is_integer():
        return SLACK_SECONDS if late.is_integer() else 1.0
    return 1.0 + PRECISE_SECONDS if late.is_integer() else PRECISE_SECONDS


class _Facts(dict[str, Any]):
    def __missing__(self, name: str) -> str:
        return f"an unknown {name}"


# What a pod's node is to the pod, and what a node is to itself.
WORDS = {POD: {"Node": "Its node", "node": "its node"}, NODE: {"Node": "It", "node": "it"}}


def told(template: str, one: Observation, kind: str) -> str:
    """A sentence with the observation's facts and words."""
    words = " ".join(one.text.split()) or "nobody said more"
    facts = _Facts({**one.facts, **WORDS[kind], "text": words, "exit": ended_with(one.facts)})
    if one.about.startswith(f"{NODE}/"):
        facts["what"] = facts["node"]
    return f"{template.format_map(facts).rstrip('.')}."


def ended_with(facts: Mapping[str, Any]) -> str:
    """Such as `exit code 1`, or `exit code 143 (SIGTERM)`."""
    code, number = facts.get("exit_code", "an unknown code"), facts.get("signal")
    try:
        name = signal.Signals(number).name if number else ""
    except ValueError:
        name = f"signal {number}"
    return f"exit code {code}" + (f" ({name})" if name else "")

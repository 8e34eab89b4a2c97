"""The causes of causes.yaml, in its order."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ruamel.yaml import YAML

FILE = Path(__file__).with_name("causes.yaml")
USUAL_MINUTES = 10.0


class Cause(NamedTuple):
    """Any observation of the codes `shown_by` shows it. It may bring about other causes within so many seconds.

    `waits`: it keeps a pod from starting, which is over once the pod has started. `outlived`: a node goes on with it.
    """

    code: str
    shown_by: tuple[str, ...]
    sentence: str
    advice: str
    brings: frozenset[str]
    window_seconds: float
    waits: bool
    outlived: bool


@cache
def causes() -> tuple[Cause, ...]:
    told = YAML(typ="safe").load(FILE)
    groups = told["groups"]
    return tuple(
        Cause(
            code,
            tuple(row["shown_by"]),
            row["sentence"],
            row["advice"],
            frozenset(one for name in row.get("brings", ()) for one in groups.get(name, (name,))),
            60 * float(row.get("minutes", USUAL_MINUTES)),
            bool(row.get("waits")),
            bool(row.get("outlived")),
        )
        for code, row in told["causes"].items()
    )


@cache
def waiting() -> frozenset[str]:
    """Codes of observations that show nothing but waiting."""
    shown = {
        waits: {code for one in causes() if one.waits is waits for code in one.shown_by} for waits in (True, False)
    }
    return frozenset(shown[True] - shown[False])

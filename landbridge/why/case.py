"""What is known of what is asked about: itself, what it belongs to, and all that was seen of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evidence.causes import waiting
from evidence.judge import UNKNOWN, Verdict, judge
from evidence.observation import Json, Observation

from .target import NODE

# Phases: of a run that has no pods yet, of a pod, of a node, of what is not there.
WAITS, RUNS, READY, GONE = "Waiting", "Running", "ready", "gone"
NOTHING, WELL, WELL_ADVICE = "nothing", "Nothing has ended it: it goes on.", "Nothing is to be done."


class Case(NamedTuple):
    """`thing` is asked about, as it is now or was last; `works` what it belongs to; `blind` what was not looked at."""

    kind: str
    thing: Json
    there: bool
    works: Mapping[str, Json]
    seen: Sequence[Observation]
    blind: Sequence[str]

    @property
    def name(self) -> str:
        meta = self.thing["metadata"]
        return "/".join(part for part in (meta.get("namespace", ""), meta["name"]) if part)

    @property
    def phase(self) -> str:
        """Kubernetes' of a pod, ready or not of a node, or `gone`."""
        if not self.there:
            return GONE
        status = self.thing.get("status") or {}
        if self.kind == NODE:
            ready = any(one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions") or [])
            return READY if ready else "not ready"
        return str(status.get("phase") or "Pending")

    @property
    def node(self) -> str:
        return str((self.thing.get("spec") or {}).get("nodeName") or "")

    @property
    def verdict(self) -> Verdict:
        if self.kind == NODE:
            found = judge(self.seen, NODE)
        else:
            # What runs waits for nothing any more, and what is gone was taken away, whatever it had waited for.
            over = self.phase in (RUNS, GONE)
            found = judge([one for one in self.seen if not (over and one.code in waiting())])
        goes_on = self.phase in (RUNS, READY) and found.code == UNKNOWN
        return found._replace(code=NOTHING, sentence=WELL, advice=WELL_ADVICE) if goes_on else found

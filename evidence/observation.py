"""One thing that somebody saw or said, with its time: the one form of evidence.

A line of JSON each: {"at": "2026-11-28T10:00:00.000Z", "source": "kubelet", "about": "pod/team-vision/train-0",
"uid": "…", "code": "exited", "text": "…", "facts": {"exit_code": 1, …}}.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

Json = Mapping[str, Any]
NO_FACTS: Json = {}


class Observation(NamedTuple):
    """`at` is in seconds of the epoch. `code` is what causes are found by (causes.yaml), `text` the source's own words.

    `about` is KIND/NAMESPACE/NAME or KIND/NAME. `uid` tells apart those that had the name one after the other; empty
    where the source does not know it.
    """

    at: float
    source: str
    about: str
    code: str
    text: str = ""
    uid: str = ""
    facts: Json = NO_FACTS

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "at": written(self.at), "facts": dict(self.facts)}

    def line(self) -> str:
        return json.dumps(self.as_json(), sort_keys=True, ensure_ascii=False)


def read_line(line: str | bytes) -> Observation:
    """Raises ValueError for what is none."""
    try:
        found = json.loads(line)
        return Observation(**{**found, "at": moment(found["at"])})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no observation: {error}") from None


def about(thing: Json, kind: str) -> str:
    """Of an object of Kubernetes."""
    meta = thing["metadata"]
    return "/".join(part for part in (kind, meta.get("namespace", ""), meta["name"]) if part)


def moment(text: str | None) -> float:
    """Of Kubernetes' times, with fractions or without; 0 where there is none."""
    return datetime.fromisoformat(text).timestamp() if text else 0.0


def written(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC).isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"

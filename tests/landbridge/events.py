"""Engine events as the engine writes them, for tests of what is made of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi.automation import EngineEvent

PREFIX = "urn:pulumi:us-west-2::landbridge::"
STACK = f"{PREFIX}pulumi:pulumi:Stack::landbridge-us-west-2"


def urn(type_: str, name: str) -> str:
    return f"{PREFIX}landbridge:network:Network${type_}::{name}"


def event(kind: str, body: Mapping[str, Any]) -> EngineEvent:
    return EngineEvent.from_json({"sequence": 1, "timestamp": 1, kind: body})


def step(
    kind: str,
    op: str,
    type_: str,
    name: str,
    *,
    diffs: Sequence[str] = (),
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
) -> EngineEvent:
    """`kind` is resourcePreEvent or resOutputsEvent."""
    where = STACK if type_ == "pulumi:pulumi:Stack" else urn(type_, name)
    metadata = {"op": op, "urn": where, "type": type_, "provider": "", "diffs": list(diffs)}
    for side, state in (("old", old), ("new", new)):
        if state is not None:
            metadata[side] = {"urn": where, "type": type_, **state}
    return event(kind, {"metadata": metadata})


def error(message: str, about: str | None = None) -> EngineEvent:
    return event("diagnosticEvent", {"message": message, "severity": "error", "urn": about})

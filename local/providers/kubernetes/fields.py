"""Who manages which field: reading managedFields (FieldsV1), and drift of what we applied."""

import json
from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]
NOTHING = object()


def applied_by(live: Mapping[str, Any], manager: str) -> dict[str, Any]:
    """What `manager` applied to the object, as FieldsV1; a status is not ours."""
    for entry in (live.get("metadata") or {}).get("managedFields") or []:
        if entry["manager"] == manager and entry["operation"] == "Apply" and not entry.get("subresource"):
            return dict(entry["fieldsV1"])
    return {}


def extract(live: Any, fields: Fields) -> Any:
    """The part of an object that `fields` names."""
    inner = {key: value for key, value in fields.items() if key != "."}
    if not inner or live is NOTHING:
        return live
    if isinstance(live, dict):
        parts = {key[2:]: extract(live.get(key[2:], NOTHING), value) for key, value in inner.items() if key[:2] == "f:"}
        return {key: part for key, part in parts.items() if part is not NOTHING}
    if isinstance(live, list):
        return _items(live, inner)
    return live


def _items(live: list[Any], fields: Fields) -> list[Any]:
    """Items of a list that is merged by keys (k:{"name":"x"}) or by values (v:"x")."""
    found = []
    for item in live:
        for key, value in fields.items():
            if key[:2] == "k:" and isinstance(item, dict):
                # A defaulted key, such as a port's protocol, is in both.
                if all(item.get(name) == wanted for name, wanted in json.loads(key[2:]).items()):
                    found.append(extract(item, value))
            elif key[:2] == "v:" and json.loads(key[2:]) == item:
                found.append(item)
    return found


def drifted(inputs: Any, then: Any, now: Any) -> Any:
    """`inputs` with what changed between `then` and `now` laid over it.

    What did not change stays as the program wrote it: the API writes 1000m as 1.
    """
    if then == now or now is NOTHING:
        return inputs if then == now else NOTHING
    if isinstance(inputs, dict) and isinstance(then, dict) and isinstance(now, dict):
        laid = {
            key: drifted(inputs.get(key, NOTHING), then.get(key, NOTHING), now.get(key, NOTHING))
            for key in [*inputs, *(key for key in now if key not in inputs)]
        }
        return {key: value for key, value in laid.items() if value is not NOTHING}
    lists = isinstance(inputs, list) and isinstance(then, list) and isinstance(now, list)
    if lists and len(inputs) == len(then) == len(now):
        return [drifted(*three) for three in zip(inputs, then, now, strict=True)]
    return now


def held_by_others(live: Mapping[str, Any], manager: str, path: str) -> bool:
    """Whether a field with a plain path, such as spec.replicas, is somebody else's and not ours."""
    ours = theirs = False
    for entry in (live.get("metadata") or {}).get("managedFields") or []:
        at: Any = entry.get("fieldsV1") or {}
        for part in path.split("."):
            at = at.get(f"f:{part}") if isinstance(at, dict) else None
        if at is not None:
            ours |= entry["manager"] == manager
            theirs |= entry["manager"] != manager
    return theirs and not ours


def without(thing: dict[str, Any], path: str) -> dict[str, Any]:
    """The same without the field of a plain path."""
    first, _, rest = path.partition(".")
    if first not in thing:
        return thing
    if not rest:
        return {key: value for key, value in thing.items() if key != first}
    inner = thing[first]
    return {**thing, first: without(inner, rest)} if isinstance(inner, dict) else thing

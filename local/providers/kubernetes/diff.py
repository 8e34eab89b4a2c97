"""Where two manifests differ, by property path; and what a difference costs."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..codec import UNKNOWN, Properties

IDENTITY = ("metadata.name", "metadata.namespace", "kind")
MISSING = object()


def differences(old: Any, new: Any, path: str = "") -> dict[str, str]:
    """Path → ADD, DELETE or UPDATE. Order in lists counts, as it does in containers' arguments."""
    return dict(_differences(old, new, path))


def _differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if path or not key.startswith("__"):
                yield from _differences(old.get(key, MISSING), new.get(key, MISSING), _key(path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif new == UNKNOWN or old != new:
        # null and nothing are the same to the API.
        if {id(old), id(new)} <= {id(None), id(MISSING)}:
            return
        yield path, "ADD" if old is MISSING else "DELETE" if new is MISSING else "UPDATE"


def _key(path: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", key):
        return f"{path}[{json.dumps(key)}]"
    return f"{path}.{key}" if path else key


def within(path: str, outer: str) -> bool:
    """Whether `path` is `outer` or lies in it."""
    return path == outer or (path.startswith(outer) and path[len(outer)] in ".[")


def documented_replacements(inputs: Properties, *, config_maps: bool, secrets: bool) -> tuple[str, ...]:
    """What the official provider replaces though the API would change it; the flags are its settings enable…Mutable."""
    kind = (inputs.get("apiVersion"), inputs.get("kind"))
    if kind == ("v1", "ConfigMap") and not config_maps:
        return ("data", "binaryData")
    if kind == ("v1", "Secret") and not secrets:
        return ("type", "data", "stringData")
    return ()


# The API server's own words for "this one can't be changed, another can be made".
_IMMUTABLE = re.compile(
    r"immutable|may not be changed|may not change|cannot change|can't change|updates? (?:to|may not)|not be updated",
    re.IGNORECASE,
)


def immutable_fields(causes: list[Mapping[str, Any]]) -> list[str]:
    """The fields that a refused change would have to replace; none when anything else is wrong with it.

    A value that is merely not allowed, such as a claim made smaller, must never cost the object.
    """
    if not causes or not all(_IMMUTABLE.search(str(cause.get("message", ""))) for cause in causes):
        return []
    return [str(cause.get("field") or "") for cause in causes]


def guilty(paths: list[str], fields: list[str]) -> list[str]:
    """Of our changed paths those that the API's field names mean; all when it names none of them."""
    # The API says spec.template, spec.persistentvolumesource or spec.ports[0].nodePort.
    found = [
        path
        for path in paths
        if any(within(path.lower(), field.lower()) or within(field.lower(), path.lower()) for field in fields)
    ]
    return found or [path for path in paths if path.startswith("spec")] or paths

"""When two property values mean the same, and where they differ."""

import json
from typing import Any

from .codec import UNKNOWN, Properties


def canonical(value: Any) -> Any:
    """JSON in text is compared as JSON, and lists as sets: the clouds return both in an order of their own."""
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return sorted((canonical(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return canonical(json.loads(value))
        except ValueError:
            return value
    return value


def same(one: Any, other: Any) -> bool:
    return bool(canonical(one) == canonical(other))


def changed_paths(olds: Properties, news: Properties) -> dict[str, str]:
    """Path → ADD, DELETE or UPDATE; maps are compared key by key so that a preview names the tag that changed."""
    found: dict[str, str] = {}
    for name in sorted(olds.keys() | news.keys()):
        if name.startswith("__"):
            continue
        old, new = olds.get(name), news.get(name)
        if old is None and new is None:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            found |= {f"{name}.{path}": kind for path, kind in changed_paths(old, new).items()}
        elif new == UNKNOWN or not same(old, new):
            found[name] = "ADD" if old is None else "DELETE" if new is None else "UPDATE"
    return found
